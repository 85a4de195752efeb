import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { apply, emptyState } from "../../src/actors/conversation/state/state.js";
import type { ConversationManager } from "../../src/manager.js";
import { ImportError } from "../../src/base/errors.js";
import { importFormats } from "../../src/rollouts/formats/import/source.js";
import { readRollout } from "../../src/rollouts/file/read.js";
import { importFixtures } from "../rollouts/formats/import/import-fixture.js";
import { byteDamages } from "./fuzz-bytes.js";
import type { JsonObject } from "./fuzz-fields.js";
import { secret, sourceRollouts } from "./fuzz-sources.js";
import { valueDamages } from "./fuzz-values.js";
import { damageKinds, fuzzedRollout } from "./fuzzed-rollout.js";
import type { Random } from "./random.js";
import { fuzzing, summarize } from "./rounds.js";
import { newWorld, openManager } from "./world.js";

const maxWrong = 10;
const writtenEvery = 5;
const [asJson, withFormat] = [0.2, 0.3];

test(
  "importing a damaged file gives a readable conversation or a one-sentence error",
  async () => {
    const world = await newWorld();
    const { random, home } = world;
    const manager = openManager(world);
    onTestFinished(() => manager.shutdown());
    const sources = await sourceRollouts();
    const histories = await jsonHistories();
    const seen = { files: 0, imported: 0, refused: 0, written: 0 };
    const wrong: string[] = [];
    const path = join(home, "source.jsonl");
    for (; seen.files < fuzzing.imports && wrong.length < maxWrong; seen.files += 1) {
      const { content, damages } =
        random.next() < asJson ? fuzzedJson(histories, random, seen.files) : fuzzedRollout(sources, random, seen.files);
      await writeFile(path, content);
      const found = await judge(manager, path, random).catch((error: unknown) => String(error));
      if (found !== undefined) wrong.push(`file ${seen.files} (${damages.join(", ")}): ${found}`);
    }
    expect(wrong).toEqual([]);
    expect(seen.files).toBeGreaterThan(damageKinds.length);
    expect(Math.min(seen.imported, seen.refused, seen.written)).toBeGreaterThan(0);
    expect(Object.keys(Object.prototype)).toEqual([]);
    summarize(
      `fuzzed imports: ${seen.files} files, 0 wrong, ${seen.imported} imported (${seen.written} written and read), ${seen.refused} refused`,
    );

    /** Describes what went wrong with an import, if anything. */
    async function judge(importer: ConversationManager, file: string, chance: Random): Promise<string | undefined> {
      const from = chance.next() < withFormat ? chance.pick(importFormats) : undefined;
      const dryRun = seen.files % writtenEvery !== 0;
      try {
        const options = { force: true, dryRun, ...(from === undefined ? {} : { from }) };
        const result = await importer.importConversation(file, options);
        if (result.status === "exists" || result.status === "here") return "it was there although it was forced";
        seen.imported += 1;
        if (JSON.stringify(result.losses).includes(secret)) return "the report quotes the file";
        return result.rolloutPath === null ? undefined : await judgeWritten(result.rolloutPath, result.conversationId);
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        seen.refused += 1;
        return error.message.includes(secret) ? "the error quotes the file" : undefined;
      }
    }

    async function judgeWritten(rolloutPath: string, conversationId: string): Promise<string | undefined> {
      seen.written += 1;
      const state = emptyState();
      const reading = readRollout(rolloutPath, conversationId);
      for await (const { line } of reading) apply(state, line);
      if (state.meta === undefined) return "the conversation does not say what it is";
      return reading.end.torn === 0 ? undefined : "the conversation has no end";
    }
  },
  fuzzing.timeoutMs,
);

async function jsonHistories(): Promise<string[]> {
  const names = (await readdir(importFixtures)).filter((name) => name.endsWith(".json"));
  return await Promise.all(names.map((name) => readFile(join(importFixtures, name), "utf8")));
}

/** One JSON value with damage. */
function fuzzedJson(histories: readonly string[], random: Random, number: number) {
  const text = random.pick(histories) ?? "{}";
  const kinds = [...Object.keys(valueDamages), ...Object.keys(byteDamages)];
  const kind = kinds[number % kinds.length] ?? "";
  const damaged = valueDamages[kind]?.(JSON.parse(text) as JsonObject, random);
  const bytes = Buffer.from(damaged ?? text);
  return { content: byteDamages[kind]?.(bytes, random) ?? bytes, damages: [kind] };
}
