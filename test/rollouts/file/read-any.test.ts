import { isUtf8 } from "node:buffer";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fileLines, foldLines, loadLargeRollout } from "../../../src/actors/conversation/store/load-rollout.js";
import { apply, type ConversationState, emptyState } from "../../../src/actors/conversation/state/state.js";
import { CorruptedRolloutError } from "../../../src/base/errors.js";
import { RolloutLine } from "../../../src/messages/rollout-line.js";
import { openCpuPool } from "../../../src/workers/cpu-pool.js";
import { arbitraryOf } from "../../support/arbitrary-of.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const timestamp = "2026-11-16T00:00:00.000Z";
const newline = "\n";

const line = arbitraryOf(RolloutLine).map((value) => JSON.stringify(value));
/** Tests that use these lines write the first line themselves. */
const itemLine = line.filter((text) => !text.includes('"session_meta"'));

/** Any bytes between two newlines. */
const anything: fc.Arbitrary<Buffer> = fc
  .oneof(
    { weight: 6, arbitrary: line },
    { weight: 1, arbitrary: fc.tuple(line, fc.nat(200)).map(([text, length]) => text.slice(0, length)) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.string(), payload: fc.jsonValue() }).map((value) => JSON.stringify(value)),
    },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 2, arbitrary: fc.constantFrom("", " ", "\r", "\t", "null", "{}", '{"type":""}', "\0\0") },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  )
  .map((value) => Buffer.from(value))
  // A byte order mark is not part of its line; another test covers it.
  .filter((bytes) => !bytes.includes(newline) && bytes[0] !== 0xef);

test("a file with any content is read, or refused with the number of its first damaged line", async () => {
  const path = join(await temporaryFolder(), "any.jsonl");
  const seen = { read: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { maxLength: 6 }), fc.boolean(), async (lines, ended) => {
      const content = joined(ended ? [...lines, Buffer.of()] : lines);
      await writeFile(path, content);
      const outcome = await foldLines(fileLines(path, "conv")).then(({ bytes }) => ({ bytes }), refusal);
      const wrong = firstWrong(lines, ended);
      expect(outcome).toEqual(wrong === undefined ? { bytes: wholeBytes(content) } : { line: wrong, short: true });
      expect(await readFile(path)).toEqual(content);
      seen[wrong === undefined ? "read" : "refused"] += 1;
    }),
    { numRuns: 500 },
  );
  // Both outcomes occur often enough.
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(50);
});

test("a file read in any number of chunks gives the same conversation", async () => {
  const path = join(await temporaryFolder(), "segments.jsonl");
  const closed = openCpuPool();
  await closed.close();
  const generated = fc.record({
    lines: fc.array(fc.oneof(anything, fc.constantFrom(...replacements())), { maxLength: 8 }),
    begins: fc.boolean(),
    ended: fc.boolean(),
    segmentBytes: fc.integer({ min: 1, max: 300 }),
  });
  await fc.assert(
    fc.asyncProperty(generated, async ({ lines, begins, ended, segmentBytes }) => {
      const own = begins ? [Buffer.from(metaLine(1)), ...lines] : lines;
      const content = joined(ended ? [...own, Buffer.of()] : own);
      await writeFile(path, content);
      const rollout = { path, conversationId: "conv", bytes: content.length, segmentBytes };
      const whole = await foldLines(fileLines(path, "conv")).catch(refusal);
      expect(await loadLargeRollout(closed, rollout).catch(refusal)).toEqual(whole);
    }),
    { numRuns: 200 },
  );
});

test("reading a file gives the same state as applying its lines", async () => {
  const path = join(await temporaryFolder(), "lines.jsonl");
  await fc.assert(
    fc.asyncProperty(fc.array(itemLine, { maxLength: 12 }), async (lines) => {
      const all = [metaLine(1), ...lines];
      await writeFile(path, all.map((text) => text + newline).join(""));
      expect((await foldLines(fileLines(path, "conv"))).state).toEqual(stateOf(all));
    }),
    { numRuns: 200 },
  );
});

test("lines spread over any number of files give the same conversation", async () => {
  const folder = await temporaryFolder();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(itemLine, { maxLength: 5 }), { minLength: 1, maxLength: 4 }), async (parts) => {
      let base: object | undefined;
      for (const [index, lines] of parts.entries()) {
        const text = [metaLine(index, base), ...lines].map((one) => one + newline).join("");
        await writeFile(join(folder, `${idOf(index)}.jsonl`), text);
        base = { thread_id: idOf(index), end_ordinal_exclusive: 1, end_byte_offset: Buffer.byteLength(text) };
      }
      const last = idOf(parts.length - 1);
      const { state } = await foldLines(fileLines(join(folder, `${last}.jsonl`), "conv"));
      const { meta, ...rest } = state;
      expect(meta?.id).toBe(last);
      const { meta: _, ...expected } = stateOf([metaLine(0), ...parts.flat()]);
      expect(rest).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});

/** Lines that replace the whole history, that look as if they did, or that are in an older format. */
function replacements(): Buffer[] {
  const item = { type: "message", role: "user", content: [{ type: "input_text", text: "kept" }] };
  const wrong = { type: "message", role: "nobody" };
  return [
    { timestamp, type: "compacted", payload: { message: "", replacement_history: [item] } },
    { timestamp, type: "compacted", payload: { message: "", replacement_history: [wrong] } },
    { timestamp, type: "cody", payload: { type: "history_replaced", items: [] } },
    { timestamp, type: "turn_context", payload: {} },
    { timestamp, type: "of_tomorrow", payload: {} },
    { timestamp, items: [item] },
  ].map((value) => Buffer.from(JSON.stringify(value)));
}

function metaLine(number: number, base?: object): string {
  const own = { id: idOf(number), timestamp, cwd: "/", originator: "cody", cli_version: "1", source: "cli" };
  const payload = base === undefined ? own : { ...own, history_base: base };
  return JSON.stringify({ timestamp, type: "session_meta", payload });
}

function idOf(number: number): string {
  return `01a1e1d9-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

function stateOf(lines: readonly string[]): ConversationState {
  const state = emptyState();
  for (const text of lines) apply(state, JSON.parse(text) as RolloutLine);
  return state;
}

function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((bytes, index) => (index === 0 ? [bytes] : [Buffer.from(newline), bytes])));
}

/** Accepts only a CorruptedRolloutError with a short message; any other error fails the test. */
function refusal(error: unknown): { line: number; short: boolean } {
  if (!(error instanceof CorruptedRolloutError)) throw error;
  return { line: error.line, short: error.message.length <= 500 };
}

/** The number of the first line that is damaged or names a history base, which does not exist in this test. */
function firstWrong(lines: readonly Buffer[], ended: boolean): number | undefined {
  const meta = lines.findIndex((bytes) => !isDamage(bytes) && bytes.includes('"type":"session_meta"'));
  const index = lines.findIndex((bytes, at) =>
    isDamage(bytes) ? ended || at < lines.length - 1 : at === meta && bytes.includes('"history_base":{'),
  );
  return index === -1 ? undefined : index + 1;
}

/** A second definition of damage, independent of the reader: neither blank nor a JSON object with a string type. */
function isDamage(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return true;
  const text = bytes.toString("utf8");
  if (text.replaceAll(/[ \t\r]/g, "") === "") return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof (value as { type?: unknown } | null)?.type !== "string";
  } catch {
    return true;
  }
}

/** The number of bytes without an unterminated, unreadable last line. */
function wholeBytes(content: Buffer): number {
  const start = content.lastIndexOf(newline) + 1;
  return isDamage(content.subarray(start)) ? start : content.length;
}
