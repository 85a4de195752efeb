import { basename } from "node:path";
import { CorruptedRolloutError } from "../../base/errors.js";
import type { OwnLine, RolloutLine } from "../../messages/rollout-line.js";
import { checkLine } from "./check-line.js";
import { FormReader } from "../formats/lines/form-reader.js";
import { replacesHistory } from "./history.js";
import { partsBefore } from "./history-base.js";
import { readLineBytes, withoutMark } from "./line-object.js";
import { rawBatches } from "./raw-lines.js";

export interface NumberedLine {
  /** Counted from 1 in the file it stands in, blank and skipped lines included. */
  readonly number: number;
  readonly line: OwnLine;
}

/** How a file ended; what stands here is final when the iteration is over. */
export interface RolloutEnd {
  /** Where the last whole line ends. */
  bytes: number;
  /** The length of an unterminated last line that cannot be read; it is not among the lines. */
  torn: number;
  /**
   * Lines that may have said something we do not understand: of an unknown type, or in an unknown shape. Those before
   * the history was replaced as a whole do not count.
   */
  skipped: number;
}

export interface RolloutReading extends AsyncIterable<NumberedLine> {
  readonly end: RolloutEnd;
  /** The lines, as many at a time as were read together: to wait for each of them takes longer than to read it. */
  batches(): AsyncIterable<readonly NumberedLine[]>;
}

/** Gets every whole line in order, also one of a type or a shape we do not know. */
export type OnLine = (line: RolloutLine) => void;

/**
 * Reads a rollout line by line, whatever its size. When its first line says that it begins in other rollouts, what it
 * has from them comes behind that line and before its own.
 */
export function readRollout(path: string, conversationId: string, onLine?: OnLine): RolloutReading {
  const end = noLines();
  const batches = (): AsyncIterable<readonly NumberedLine[]> => {
    Object.assign(end, noLines());
    return batchesOf({ path, conversationId }, end, onLine);
  };
  return {
    end,
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches()) yield* batch;
    },
  };
}

interface Source {
  readonly path: string;
  readonly conversationId: string;
  /** It is the beginning of another conversation, which names it in this line. */
  readonly part?: { readonly bytes: number; readonly namedIn: number };
}

async function* batchesOf(
  { path, conversationId, part }: Source,
  end: RolloutEnd,
  onLine?: OnLine,
): AsyncGenerator<NumberedLine[]> {
  let number = 0;
  let begun = false;
  const forms = new FormReader(conversationId);
  const damage = (detail: string) =>
    part === undefined
      ? new CorruptedRolloutError(conversationId, number, detail)
      : new CorruptedRolloutError(
          conversationId,
          part.namedIn,
          `it begins in ${basename(path)}: line ${number}: ${detail}`,
        );
  for await (const raws of rawBatches(path, conversationId, { upTo: part?.bytes })) {
    let batch: NumberedLine[] = [];
    for (const raw of raws) {
      number += 1;
      if (raw.status === "too_long") {
        yield batch;
        throw damage("the line is too long");
      }
      const { bytes, terminated } = raw;
      const read = readLineBytes(number === 1 ? withoutMark(bytes) : bytes);
      if (read.status === "bad") {
        // What stands before damage is read.
        yield batch;
        // What others have begun with was whole when they did.
        if (terminated || part !== undefined) throw damage(read.detail);
        end.torn = bytes.length;
        return;
      }
      end.bytes += bytes.length + (terminated ? 1 : 0);
      if (read.status === "blank") continue;
      const foreign = forms.linesOf(read.value);
      if (foreign !== undefined) {
        // It has begun with this line, whatever stands behind it.
        begun = true;
        if (!foreign.whole) end.skipped += 1;
        for (const line of foreign.lines) {
          batch.push({ number, line });
          onLine?.(line);
        }
        continue;
      }
      const isMeta = read.value.type === "session_meta";
      // A conversation is what its own first line says.
      if (isMeta && part !== undefined) continue;
      const { line, isUnderstood } = checkLine(read.value);
      if (!isUnderstood) end.skipped += 1;
      if (line !== undefined && replacesHistory(line)) end.skipped = 0;
      if (line !== undefined) batch.push({ number, line });
      // Every object with a type is one of the known ones, or of an unknown one.
      onLine?.(line ?? (read.value as RolloutLine));
      if (begun || !isMeta) continue;
      begun = true;
      yield batch;
      batch = [];
      for (const before of await partsBefore(read.value, { path, conversationId, line: number })) {
        const partEnd = noLines();
        yield* batchesOf(
          { path: before.path, conversationId, part: { bytes: before.bytes, namedIn: number } },
          partEnd,
          onLine,
        );
        end.skipped += partEnd.skipped;
      }
    }
    yield batch;
  }
}

function noLines(): RolloutEnd {
  return { bytes: 0, torn: 0, skipped: 0 };
}
