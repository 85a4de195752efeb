import { type LineObject, readLineBytes, withoutMark } from "../../../rollouts/file/line-object.js";
import { rawBatches } from "../../../rollouts/file/raw-lines.js";
import { formOf } from "../../../rollouts/formats/lines/detect.js";
import type { CondensedRollout, RolloutStretch } from "../../../workers/cpu-jobs.js";
import { isPassing, isShownLine, type LineUse, lineUse } from "./line-use.js";

/** About as much as the main thread reads in a millisecond. */
const pieceBytes = 64 * 1024;

/**
 * Reads and parses a stretch of a rollout and gives what matters of it, unchecked. It loads no schema library: in a
 * thread that would take longer than to parse some megabytes.
 */
export async function condenseRollout(stretch: RolloutStretch): Promise<CondensedRollout<LineObject[]>> {
  const { path, conversationId, range, beginning, replaced: replacedBehind, shows } = stretch;
  const kept: SizedLine[] = [];
  let [lines, bytes] = [0, 0];
  for await (const batch of rawBatches(path, conversationId, { range, upTo: beginning })) {
    for (const raw of batch) {
      lines += 1;
      if (raw.status === "too_long") return { status: "corrupted", line: lines, detail: "the line is too long" };
      const read = readLineBytes(range.from === 0 && lines === 1 ? withoutMark(raw.bytes) : raw.bytes);
      if (read.status === "bad") {
        // An unterminated line was torn; but what others have begun with was whole when they did.
        if (!raw.terminated && beginning === undefined) continue;
        return { status: "corrupted", line: lines, detail: read.detail };
      }
      bytes += raw.bytes.length + (raw.terminated ? 1 : 0);
      if (read.status === "blank") continue;
      if (formOf(read.value) !== undefined) return { status: "other_form" };
      // A conversation is what its own first line says.
      if (beginning !== undefined && read.value.type === "session_meta") continue;
      // Nearly all of them: they would only fill the memory until the end of the stretch.
      if (replacedBehind && isPassing(read.value) && !(shows && isShownLine(read.value))) continue;
      kept.push({ value: read.value, bytes: raw.bytes.length });
    }
  }
  const { lines: left, shown, replaced } = condensed(kept, replacedBehind);
  return { status: "read", shown: inPieces(shows ? shown : []), pieces: inPieces(left), lines, bytes, replaced };
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

export interface SizedLine {
  readonly value: LineObject;
  readonly bytes: number;
}

export interface Condensed {
  readonly lines: readonly SizedLine[];
  /** Lines that the history no longer needs and the transcript does. */
  readonly shown: readonly SizedLine[];
  /** Whether lines were left out. */
  readonly replaced: boolean;
}

/**
 * Leaves only lines of a stretch that matter: `apply` makes of them what it makes of all, when they are what they look
 * like. `replacedBehind`: the history is replaced as a whole behind the stretch.
 */
export function condensed(lines: readonly SizedLine[], replacedBehind: boolean): Condensed {
  const newestFirst: SizedLine[] = [];
  const shown: SizedLine[] = [];
  const newer = new Set<LineUse>();
  let replaced = replacedBehind;
  for (const line of lines.toReversed()) {
    const use = lineUse(line.value);
    const isOutdone = isPassing(line.value) || (use !== "kept" && newer.has(use));
    // Since the history was replaced all are kept: how many are not understood is counted by who checks them.
    if (!replaced || !isOutdone) newestFirst.push(line);
    else if (isShownLine(line.value)) shown.push(line);
    newer.add(use);
    if (use === "replaces") replaced = true;
  }
  return { lines: newestFirst.toReversed(), shown: shown.toReversed(), replaced };
}
