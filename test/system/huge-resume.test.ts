import { constants } from "node:buffer";
import { execFile } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine, sessionMetaLine } from "../../src/rollouts/file/encode.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const id = "conv_huge";
const timestamp = "2026-11-16T00:00:00.000Z";
const maxPeakMb = 300;
const builtLibrary = new URL("../../dist/index.js", import.meta.url).href;

/** Resumes in a process of its own and returns the history and the peak memory. */
const resume = `
  import { readFileSync } from "node:fs";
  import { ConversationManager } from ${JSON.stringify(builtLibrary)};
  const [home] = process.argv.slice(1);
  const manager = new ConversationManager({ home, cwd: home, env: { XDG_RUNTIME_DIR: home } });
  const conversation = await manager.resumeConversation("${id}");
  const texts = conversation.getHistory().map((item) => item.content[0].text.slice(0, 20));
  const [, peakKb] = /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"));
  console.log(JSON.stringify({ texts, peakMb: peakKb / 1024 }));
  await manager.shutdown();
`;

test("a rollout larger than the longest string is resumed in the memory its history needs", async () => {
  const home = await temporaryFolder();
  const directory = join(home, "conversations");
  await mkdir(directory);
  await writeHuge(join(directory, `${id}.jsonl`));
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", resume, home]);
  const { texts, peakMb } = JSON.parse(stdout) as { texts: string[]; peakMb: number };
  expect(texts).toEqual(["the summary", "the last words"]);
  expect(peakMb).toBeLessThan(maxPeakMb);
});

/** Writes a megabyte of messages and a compaction, repeatedly. */
async function writeHuge(path: string): Promise<void> {
  const labels = { provider: "offline", model: "offline", cwd: "/", source: "non_interactive" as const };
  const first = encodeLine(sessionMetaLine({ conversationId: id, now: new Date(timestamp), ...labels }));
  const summary = { message: "", replacement_history: [userMessage("the summary")] };
  const compacted = encodeLine({ timestamp, type: "compacted", payload: summary });
  const block = Buffer.from(item("word ".repeat(2_000)).repeat(100) + compacted);
  await using file = await open(path, "wx", 0o600);
  await file.write(first);
  for (let bytes = 0; bytes <= constants.MAX_STRING_LENGTH; bytes += block.length) await file.write(block);
  await file.write(item("the last words"));
}

function item(text: string): string {
  return encodeLine({ timestamp, type: "response_item", payload: userMessage(text) });
}

function userMessage(text: string): Extract<OwnLine, { type: "response_item" }>["payload"] {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}
