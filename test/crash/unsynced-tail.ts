import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine, sessionMetaLine } from "../../src/rollouts/file/encode.js";
import { nodeRepairFiles } from "../../src/rollouts/file/replacement.js";
import { repairRollout } from "../../src/rollouts/repair/repair-write.js";
import type { WriterHarness, Writer } from "../actors/rollout-writer/writer-harness.js";
import { numberedLine, upTo } from "./numbered-lines.js";
import { readLines } from "./rollout-reading.js";

const now = new Date(0);
const meta = { conversationId: "a", now, cwd: "/", provider: "p", model: "m", source: "interactive" } as const;
const written = [sessionMetaLine(meta), ...upTo(5).map((number) => numberedLine("a", number))];
const synced = written.slice(0, 3);
const next = numberedLine("a", 6);

export const unsyncedBytes = encoded(written.slice(synced.length));

/** How a reader reports the end of the file; "whole" when no missing line can be detected. */
export type TailReport = "damaged" | "torn" | "whole";

/** Writes a rollout with `left` after its synced lines, reads it, repairs it if needed, and appends to it. */
export async function continueAfterTail(
  left: Buffer,
  harness: WriterHarness,
  writer: Writer,
  id: string,
): Promise<TailReport> {
  const path = harness.path(id);
  writeFileSync(path, Buffer.concat([encoded(synced), left]));
  const told = await tell(path);
  if (told === "damaged") await repair(path);
  const { lines } = await readLines(path, "a");
  checkLines(lines);
  const opened = await writer.open(id, "append");
  assert(opened.status === "open" && (opened.torn !== undefined) === (told === "torn"), "torn, and not said so");
  await writer.append(id, encodeLine(next));
  assert.deepEqual(await writer.close(id), { status: "saved" });
  assert.deepEqual(await readLines(path, "a"), { lines: [...lines, next], tornBytes: 0, damagedLine: undefined });
  return told;
}

async function tell(path: string): Promise<TailReport> {
  const { lines, tornBytes, damagedLine } = await readLines(path, "a");
  checkLines(lines);
  if (damagedLine !== undefined) {
    assert(damagedLine > synced.length, "a synced line is damaged");
    return "damaged";
  }
  if (tornBytes > 0) return "torn";
  assert.equal(`${readFileSync(path, "utf8").trimEnd()}\n`, encoded(lines).toString());
  return "whole";
}

/** Checks for every synced line, followed by the unsynced lines that are complete. */
function checkLines(lines: readonly OwnLine[]): void {
  assert.deepEqual(lines.slice(0, synced.length), synced);
  const texts = new Set(lines.map(encodeLine));
  assert.deepEqual(
    lines,
    written.filter((line) => texts.has(encodeLine(line))),
  );
}

async function repair(path: string): Promise<void> {
  const files = { ...nodeRepairFiles, fsync: () => Promise.resolve() };
  await repairRollout(files, { path, conversationId: "a", now, uid: process.getuid?.() ?? 0 });
}

function encoded(lines: readonly OwnLine[]): Buffer {
  return Buffer.from(lines.map(encodeLine).join(""));
}
