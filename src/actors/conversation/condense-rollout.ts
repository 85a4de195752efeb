import { formOf } from "../../rollouts/forms/form-of.js";
import { type LineObject, readLineBytes, withoutMark } from "../../rollouts/line-object.js";
import { rawBatches, type RawLine } from "../../rollouts/raw-lines.js";
import type { CondensedRollout, RolloutStretch } from "../../workers/cpu-jobs.js";
import { Condensed, type SizedLine } from "./condense.js";

/** About as much as the main thread reads in a millisecond. */
const pieceBytes = 64 * 1024;

interface Damage {
  readonly line: number;
  readonly detail: string;
}

/**
 * Reads and parses a stretch of a rollout, its newest line first, and gives what matters of it, unchecked. It loads no
 * schema library: in a thread that would take longer than to parse some megabytes.
 */
export async function condenseRollout(stretch: RolloutStretch): Promise<CondensedRollout<LineObject[]>> {
  const { range, beginning, replaced: replacedBehind = false } = stretch;
  const { raws, tooLong } = await readStretch(stretch);
  const condensed = new Condensed(replacedBehind);
  let bytes = 0;
  let damage = tooLong;
  let isOtherForm = false;
  for (const [index, raw] of [...raws.entries()].toReversed()) {
    const read = readLineBytes(range.from === 0 && index === 0 ? withoutMark(raw.bytes) : raw.bytes);
    if (read.status === "bad") {
      // An unterminated line was torn; but what others have begun with was whole when they did.
      if (raw.terminated || beginning !== undefined) damage = { line: index + 1, detail: read.detail };
      continue;
    }
    bytes += raw.bytes.length + (raw.terminated ? 1 : 0);
    if (read.status === "blank") continue;
    if (formOf(read.value) !== undefined) isOtherForm = true;
    // A conversation is what its own first line says.
    if (beginning !== undefined && read.value.type === "session_meta") continue;
    condensed.addBefore(read.value, raw.bytes.length);
  }
  if (damage !== undefined) return { status: "corrupted", ...damage };
  if (isOtherForm) return { status: "other_form" };
  const { lines, replaced } = condensed;
  return { status: "read", pieces: inPieces(lines), lines: raws.length, bytes, replaced };
}

type WholeLine = Extract<RawLine, { status: "line" }>;

async function readStretch(stretch: RolloutStretch): Promise<{ raws: WholeLine[]; tooLong: Damage | undefined }> {
  const { path, conversationId, range, beginning } = stretch;
  const raws: WholeLine[] = [];
  for await (const batch of rawBatches(path, conversationId, { range, upTo: beginning })) {
    for (const raw of batch) {
      if (raw.status === "line") raws.push(raw);
      else return { raws, tooLong: { line: raws.length + 1, detail: "the line is too long" } };
    }
  }
  return { raws, tooLong: undefined };
}

function inPieces(lines: readonly SizedLine[]): LineObject[][] {
  const pieces: LineObject[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const { value, bytes } of lines) {
    if (size + bytes > pieceBytes) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(value);
    size += bytes;
  }
  return pieces;
}
