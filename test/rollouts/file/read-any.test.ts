import { isUtf8 } from "node:buffer";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fileLines, foldLines, loadInThreads } from "../../../src/actors/conversation/store/load-rollout.js";
import { apply, type ConversationState, emptyState } from "../../../src/actors/conversation/state/state.js";
import { CorruptedRolloutError } from "../../../src/base/errors.js";
import { RolloutLine } from "../../../src/messages/rollout-line.js";
import { openCpuPool } from "../../../src/workers/cpu-pool.js";
import { arbitraryOf } from "../../support/arbitrary-of.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const timestamp = "2026-11-16T00:00:00.000Z";
const newline = "\n";

const line = arbitraryOf(RolloutLine).map((value) => JSON.stringify(value));
/** In the tests that use it, how a conversation begins is said by the test. */
const itemLine = line.filter((text) => !text.includes('"session_meta"'));

/** Whatever may stand between two newlines. */
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
  // A byte order mark is no part of the line it stands before; another test has it.
  .filter((bytes) => !bytes.includes(newline) && bytes[0] !== 0xef);

test("whatever stands in a file, it is read, or one error names the first line that is wrong", async () => {
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
  // Neither of the two is rare among what was tried.
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(50);
});

test("it is all the same in how many stretches a file is read", async () => {
  const path = join(await temporaryFolder(), "stretches.jsonl");
  const closed = openCpuPool();
  await closed.close();
  const generated = fc.record({
    lines: fc.array(fc.oneof(anything, fc.constantFrom(...replacements())), { maxLength: 8 }),
    begins: fc.boolean(),
    ended: fc.boolean(),
    stretchBytes: fc.integer({ min: 1, max: 300 }),
  });
  await fc.assert(
    fc.asyncProperty(generated, async ({ lines, begins, ended, stretchBytes }) => {
      const own = begins ? [Buffer.from(metaLine(1)), ...lines] : lines;
      const content = joined(ended ? [...own, Buffer.of()] : own);
      await writeFile(path, content);
      const rollout = { path, conversationId: "conv", bytes: content.length, stretchBytes };
      const whole = await foldLines(fileLines(path, "conv")).catch(refusal);
      expect(await loadInThreads(closed, rollout).catch(refusal)).toEqual(whole);
    }),
    { numRuns: 200 },
  );
});

test("a file makes of a conversation what its lines make of it", async () => {
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

test("it is all the same over how many files the lines are spread", async () => {
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

/** Lines that replace the history as a whole, or look as if they did, or are in another form. */
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

/** Only one error may come out, and it is never long; any other fails the test. */
function refusal(error: unknown): { line: number; short: boolean } {
  if (!(error instanceof CorruptedRolloutError)) throw error;
  return { line: error.line, short: error.message.length <= 500 };
}

/** The number of the line that is damaged, or that says the conversation begins in a file, of which there is none. */
function firstWrong(lines: readonly Buffer[], ended: boolean): number | undefined {
  const meta = lines.findIndex((bytes) => !isDamage(bytes) && bytes.includes('"type":"session_meta"'));
  const index = lines.findIndex((bytes, at) =>
    isDamage(bytes) ? ended || at < lines.length - 1 : at === meta && bytes.includes('"history_base":{'),
  );
  return index === -1 ? undefined : index + 1;
}

/** Said in other words than those of the reader: no blank, and no JSON object with a text as its type. */
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

/** Everything, or all but an unterminated line that cannot be read. */
function wholeBytes(content: Buffer): number {
  const start = content.lastIndexOf(newline) + 1;
  return isDamage(content.subarray(start)) ? start : content.length;
}
