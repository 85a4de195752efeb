import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { realpath } from "node:fs/promises";
import { CorruptedRolloutError, ConversationNotFoundError, InvalidInputError } from "../../base/errors.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { OwnLine, RolloutLine } from "../../messages/rollout-line.js";
import { ForeignLineReader } from "../formats/lines/foreign-line-reader.js";
import { rolloutId } from "./rollout-id.js";
import { checkLine } from "./check-line.js";
import { findEarlierParts, hasEarlierParts } from "./earlier-parts.js";
import { replacesHistory, applyToHistory } from "./history.js";
import { newline, readLineBytes, withoutMark, rawBatches } from "./lines.js";

interface NumberedLine {
  /** Line number in its own file from 1, counting blank and skipped lines. */
  readonly number: number;
  readonly line: OwnLine;
}

/** The end state of a file; final once the iteration is over. */
interface RolloutEnd {
  /** Offset after the last complete line. */
  bytes: number;
  /** Length of an unterminated last line that is unreadable and therefore not yielded. */
  torn: number;
  /**
   * Number of lines of unknown type or shape, whose content may have been lost. Lines before a replacement of the
   * whole history do not count.
   */
  skipped: number;
}

interface RolloutReading extends AsyncIterable<NumberedLine> {
  readonly end: RolloutEnd;
  /** Yields lines in the batches in which they were read, because awaiting each line takes longer than reading it. */
  batches(): AsyncIterable<readonly NumberedLine[]>;
}

/** Called for every complete line in order, including lines of unknown type or shape. */
type OnLine = (line: RolloutLine) => void;

interface ReadOptions {
  readonly onLine?: OnLine;
  /** Offset at which to treat the file as ended. */
  readonly upTo?: number;
}

/**
 * Reads a rollout of any size line by line. If its first line names other rollouts as its beginning, their lines
 * follow that line and precede its own.
 */
export function readRollout(path: string, conversationId: string, { onLine, upTo }: ReadOptions = {}): RolloutReading {
  const end = noLines();
  const batches = (): AsyncIterable<readonly NumberedLine[]> => {
    Object.assign(end, noLines());
    return batchesOf({ path, conversationId, upTo }, end, onLine);
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
  readonly upTo?: number | undefined;
  /** Set when the source is the beginning of another conversation, which names it in line `namedIn`. */
  readonly part?: { readonly bytes: number; readonly namedIn: number };
}

async function* batchesOf(
  { path, conversationId, upTo, part }: Source,
  end: RolloutEnd,
  onLine?: OnLine,
): AsyncGenerator<NumberedLine[]> {
  let number = 0;
  let hasStarted = false;
  const forms = new ForeignLineReader(conversationId);
  const damage = (detail: string) =>
    part === undefined
      ? new CorruptedRolloutError(conversationId, number, detail)
      : new CorruptedRolloutError(
          conversationId,
          part.namedIn,
          `its history starts in ${basename(path)}: line ${number}: ${detail}`,
        );
  for await (const raws of rawBatches(path, conversationId, { upTo: upTo ?? part?.bytes })) {
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
        // Lines before the damage are still delivered.
        yield batch;
        // The part was complete when another conversation was based on it, so a torn line in it is damage.
        if (terminated || part !== undefined) throw damage(read.detail);
        end.torn = bytes.length;
        return;
      }
      end.bytes += bytes.length + (terminated ? 1 : 0);
      if (read.status === "blank") continue;
      const foreign = forms.linesOf(read.value);
      if (foreign !== undefined) {
        // A line of a foreign form also counts as the beginning of the conversation.
        hasStarted = true;
        if (!foreign.whole) end.skipped += 1;
        for (const line of foreign.lines) {
          batch.push({ number, line });
          onLine?.(line);
        }
        continue;
      }
      const isMeta = read.value.type === "session_meta";
      // The conversation's own first line describes it, not that of a part.
      if (isMeta && part !== undefined) continue;
      const { line, isUnderstood } = checkLine(read.value);
      if (!isUnderstood) end.skipped += 1;
      if (line !== undefined && replacesHistory(line)) end.skipped = 0;
      if (line !== undefined) batch.push({ number, line });
      // Any other object with a type is a line of an unknown type.
      onLine?.(line ?? (read.value as RolloutLine));
      if (hasStarted || !isMeta) continue;
      hasStarted = true;
      yield batch;
      batch = [];
      for (const before of await findEarlierParts(read.value, { path, conversationId, line: number })) {
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

/**
 * Reads a rollout at once, which blocks the thread. For a conversation whose history begins in another rollout it
 * throws, because those are not looked up at once.
 */
export function readRolloutNow(path: string, conversationId: string): OwnLine[] {
  const lines: OwnLine[] = [];
  const forms = new ForeignLineReader(conversationId);
  const bytes = withoutMark(readRegularNow(path, conversationId));
  for (let begin = 0, number = 1; begin < bytes.length; number += 1) {
    const end = bytes.indexOf(newline, begin);
    const read = readLineBytes(bytes.subarray(begin, end === -1 ? bytes.length : end));
    begin = end === -1 ? bytes.length : end + 1;
    if (read.status === "blank") continue;
    if (read.status === "bad") {
      if (end === -1) return lines;
      throw new CorruptedRolloutError(conversationId, number, read.detail);
    }
    const foreign = forms.linesOf(read.value);
    if (foreign !== undefined) {
      lines.push(...foreign.lines);
      continue;
    }
    if (hasEarlierParts(read.value)) {
      throw new InvalidInputError(`Conversation ${conversationId} begins in another file: use await readHistory()`);
    }
    const { line } = checkLine(read.value);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

function readRegularNow(path: string, conversationId: string): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) throw new InvalidInputError(`Conversation ${conversationId}: not a regular file`);
    return readFileSync(fd);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new ConversationNotFoundError(conversationId);
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function noLines(): RolloutEnd {
  return { bytes: 0, torn: 0, skipped: 0 };
}

/** A conversation as recorded in its rollout. */
export interface RolloutHistory {
  readonly conversationId: string;
  /** Every recorded line in order, including lines of unknown type. */
  readonly items: RolloutLine[];
  /** The history the model would see. */
  readonly history: ResponseItem[];
  readonly rolloutPath: string;
}

/** Reads a rollout at any path without changing it. A torn last line is skipped. */
export async function getRolloutHistory(path: string): Promise<RolloutHistory> {
  const rolloutPath = await realpath(path).catch(() => undefined);
  if (rolloutPath === undefined) throw new ConversationNotFoundError(path);
  const conversationId = await rolloutId(rolloutPath);
  if (conversationId === undefined)
    throw new InvalidInputError(`${path} is not a conversation: its first line has no id`);
  const items: RolloutLine[] = [];
  const history: ResponseItem[] = [];
  const reading = readRollout(rolloutPath, conversationId, { onLine: (line) => items.push(line) });
  for await (const { line } of reading) applyToHistory(history, line);
  return { conversationId, items, history, rolloutPath };
}
