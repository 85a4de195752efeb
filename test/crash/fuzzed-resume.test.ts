import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { ConversationError } from "../../src/base/errors.js";
import { fileLines, foldLines } from "../../src/actors/conversation/store/load-rollout.js";
import { secret, sourceRollouts } from "./fuzz-sources.js";
import { fuzzedRollout } from "./fuzzed-rollout.js";
import { newQuestion } from "./question.js";
import { fuzzing, summarize } from "./rounds.js";
import { variedProvider } from "./varied-provider.js";
import { newWorld, openManager, rolloutPath } from "./world.js";

const settings = { provider: variedProvider.name, model: "varied" };

test(
  "a damaged rollout is resumed and continued, or refused and left unchanged",
  async () => {
    const world = await newWorld();
    const sources = await sourceRollouts();
    const manager = openManager(world);
    const seen = { resumed: 0, refused: 0 };
    const wrong: string[] = [];
    await mkdir(dirname(rolloutPath(world, "any")));
    for (let file = 0; file < fuzzing.resumed; file += 1) {
      const { content, damages } = fuzzedRollout(sources, world.random, file);
      const found = await play(`conv_${file}`, content).catch((error: unknown) => String(error));
      if (found !== undefined) wrong.push(`file ${file} (${damages.join(", ")}): ${found}`);
    }
    await manager.shutdown();
    expect(wrong).toEqual([]);
    expect(Math.min(seen.resumed, seen.refused)).toBeGreaterThan(0);
    summarize(`fuzzed rollouts resumed: ${seen.resumed} went on, ${seen.refused} were refused, 0 wrong`);

    async function play(id: string, content: Buffer): Promise<string | undefined> {
      const path = rolloutPath(world, id);
      await writeFile(path, content);
      const conversation = await manager.resumeConversation(id, settings).catch((error: unknown) => {
        if (error instanceof ConversationError) return error;
        throw error;
      });
      if (conversation instanceof ConversationError) {
        seen.refused += 1;
        if (!content.equals(await readFile(path))) return "it was refused and changed";
        return conversation.message.includes(secret) ? "the error quotes the file" : undefined;
      }
      await conversation.processMessage(newQuestion(id, world.random));
      const history = conversation.getHistory();
      await conversation.shutdown();
      seen.resumed += 1;
      // A rollout that only Codex may write continues as a copy.
      const { state } = await foldLines(fileLines(rolloutPath(world, conversation.id), conversation.id));
      return state.history.length === history.length ? undefined : "what was said is not what is read";
    }
  },
  fuzzing.timeoutMs,
);
