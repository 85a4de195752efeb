import { formOf } from "../../../rollouts/formats/lines/detect.js";
import { type LineObject, readLineBytes, withoutMark } from "../../../rollouts/file/line-object.js";
import { rawBatches } from "../../../rollouts/file/raw-lines.js";
import type { CondensedRollout, RolloutStretch } from "../../../workers/cpu-jobs.js";
import { condensed, type SizedLine } from "./condense.js";
import { isPassing, isShownLine } from "./line-use.js";

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
