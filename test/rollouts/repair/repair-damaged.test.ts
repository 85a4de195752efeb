import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fileLines, foldLines } from "../../../src/actors/conversation/store/load-rollout.js";
import { RolloutLine } from "../../../src/messages/rollout-line.js";
import { nodeRepairFiles } from "../../../src/rollouts/file/replacement.js";
import { needsRepair, type RolloutScan, scanRollout } from "../../../src/rollouts/repair/repair-scan.js";
import { repairRollout } from "../../../src/rollouts/repair/repair-write.js";
import { arbitraryOf } from "../../support/arbitrary-of.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const conversationId = "conv_any";
/** Skips syncs: durability is not tested here, and syncs take most of the time. */
const files = { ...nodeRepairFiles, fsync: () => Promise.resolve() };
const timestamp = "2026-11-16T00:00:00.000Z";
const newline = 0x0a;
const meta = {
  timestamp,
  type: "session_meta",
  payload: { id: conversationId, timestamp, cwd: "/", originator: "cody", cli_version: "1", source: "cli" },
};

/** The test writes the first line itself. */
const line = arbitraryOf(RolloutLine)
  .map((value) => JSON.stringify({ ...(value as object), timestamp }))
  .filter((text) => !text.includes('"session_meta"'));
/** Puts the timestamp first, as the writer does. */
const writtenLine = line.map((text) => JSON.stringify({ timestamp, ...(JSON.parse(text) as object) }));
const rollout = fc
  .array(writtenLine, { maxLength: 8 })
  .map((lines) => [JSON.stringify(meta), ...lines].map((text) => `${text}\n`));

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const flip = fc.record({ kind: fc.constant("flip" as const), place, mask: fc.integer({ min: 1, max: 255 }) });
const cut = fc.record({ kind: fc.constant("cut" as const), place, length: fc.integer({ min: 1, max: 80 }) });
const garbage = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom("\n", "\n\n", "\0\0\0\0", "{", "}\n", "null\n", "\ufeff", "\r\n", '{"timestamp":"')
    .map((text) => Buffer.from(text)),
);
const insert = fc.record({ kind: fc.constant("insert" as const), place, bytes: garbage });
type Damage =
  | { kind: "flip"; place: number; mask: number }
  | { kind: "cut"; place: number; length: number }
  | { kind: "insert"; place: number; bytes: Buffer };
const anyDamage = fc.array(fc.oneof(flip, cut, insert), { minLength: 1, maxLength: 4 });

/** A byte and its offset in the original rollout; undefined for inserted and changed bytes. */
interface Cell {
  readonly byte: number;
  readonly from: number | undefined;
}

function damaged(lines: readonly string[], damages: readonly Damage[]): Cell[] {
  const cells: Cell[] = Array.from(Buffer.from(lines.join("")), (byte, from) => ({ byte, from }));
  for (const damage of damages) {
    const at = Math.floor(damage.place * cells.length);
    if (damage.kind === "cut") cells.splice(at, damage.length);
    else if (damage.kind === "insert") {
      cells.splice(at, 0, ...Array.from(damage.bytes, (byte) => ({ byte, from: undefined })));
    } else {
      const cell = cells[at];
      if (cell !== undefined) cells[at] = { byte: cell.byte ^ damage.mask, from: undefined };
    }
  }
  return cells;
}

/** The lines that are in the file unchanged, and their offsets. */
function untouched(lines: readonly string[], cells: readonly Cell[]): { at: number; text: string }[] {
  let start = 0;
  const byStart = new Map<number, string>();
  for (const text of lines) {
    byStart.set(start, text);
    start += Buffer.byteLength(text);
  }
  return cells.flatMap(({ from }, at) => {
    const text = from === undefined ? undefined : byStart.get(from);
    const isFirst = at === 0 || cells[at - 1]?.byte === newline;
    if (from === undefined || text === undefined || !isFirst) return [];
    const length = Buffer.byteLength(text);
    const isWhole = Array.from({ length }, (_, offset) => cells[at + offset]?.from === from + offset).every(Boolean);
    return isWhole ? [{ at, text }] : [];
  });
}

async function repaired(path: string, content: Buffer): Promise<{ scan: RolloutScan; result: Buffer }> {
  await writeFile(path, content);
  const request = { path, conversationId, now: new Date(timestamp), uid: process.getuid?.() ?? 0 };
  const { scan, backup } = await repairRollout(files, request);
  expect(backup !== undefined).toBe(needsRepair(scan));
  expect(content.equals(await readFile(backup ?? path))).toBe(true);
  if (backup !== undefined) await rm(backup);
  return { scan, result: await readFile(path) };
}

/** Checks that a repaired file is valid and keeps the scanned history. */
async function expectWhole(path: string, before: RolloutScan): Promise<void> {
  const { state } = await foldLines(fileLines(path, conversationId));
  expect(state.history).toHaveLength(before.history.items);
  const { damaged: none, firstLine, history, unterminated } = await scanRollout({ path, conversationId });
  expect({ none: none.count, firstLine, history, unterminated }).toEqual({
    none: 0,
    firstLine: undefined,
    history: before.history,
    unterminated: false,
  });
}

test("repairing a rollout with any damage keeps every undamaged line", async () => {
  const path = join(await temporaryFolder(), `${conversationId}.jsonl`);
  const seen = { mended: 0, kept: 0 };
  await fc.assert(
    fc.asyncProperty(rollout, anyDamage, async (lines, damages) => {
      const cells = damaged(lines, damages);
      const { scan, result } = await repaired(path, Buffer.from(cells.map(({ byte }) => byte)));
      if (needsRepair(scan)) seen.mended += 1;
      let from = 0;
      for (const { text } of untouched(lines, cells)) {
        const at = result.indexOf(text, from);
        expect(at).not.toBe(-1);
        expect(at === 0 || result[at - 1] === newline).toBe(true);
        from = at + Buffer.byteLength(text);
        seen.kept += 1;
      }
      await expectWhole(path, scan);
    }),
    { numRuns: 200 },
  );
  expect(Math.min(seen.mended, seen.kept)).toBeGreaterThan(100);
});

test("repairing numbered lines keeps every remaining line at its offset", async () => {
  const path = join(await temporaryFolder(), `${conversationId}.jsonl`);
  const numbered = rollout.map((lines) =>
    lines.map((text, ordinal) => `${JSON.stringify({ timestamp, ordinal, ...(JSON.parse(text) as object) })}\n`),
  );
  await fc.assert(
    fc.asyncProperty(numbered, fc.array(flip, { maxLength: 4 }), async (lines, damages) => {
      const cells = damaged(lines, damages);
      const left = untouched(lines, cells);
      fc.pre(left[0]?.at === 0);
      const { scan, result } = await repaired(path, Buffer.from(cells.map(({ byte }) => byte)));
      expect(scan.inPlace).toBe(true);
      for (const { at, text } of left) expect(result.subarray(at, at + Buffer.byteLength(text)).toString()).toBe(text);
      await expectWhole(path, scan);
    }),
    { numRuns: 100 },
  );
});
