import { basename } from "node:path";
import { CorruptedRolloutError } from "../../../base/errors.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { checkLine } from "../../../rollouts/file/check-line.js";
import { readFirstLine, findEarlierParts, type RolloutPart } from "../../../rollouts/file/earlier-parts.js";
import { replacesHistory } from "../../../rollouts/file/history.js";
import type { LineObject } from "../../../rollouts/file/lines.js";
import { readRollout, readRolloutNow } from "../../../rollouts/file/read.js";
import { findReplacement } from "../../../rollouts/file/replacement.js";
import { unpack } from "../../../workers/jobs.js";
import type { RolloutSegment, CondensedRollout, CpuPool } from "../../../workers/cpu-pool.js";
import { apply, type ConversationState, emptyState, Transcript } from "../state/state.js";
import { condenseRollout, replacesEarlierLines } from "./condense-rollout.js";
import type { StoredState, StoredLines } from "./store.js";

const defaultSegmentBytes = 4 * 1024 * 1024;

/** The transcript is read from this many bytes at the end of a file: only the newest messages are shown. */
const shownBytes = 16 * 1024 * 1024;

/** Two segments are read in threads while the main thread processes a third. */
const maxParallelSegments = 3;

/**
 * Same result as `foldLines`. If the history was replaced near the end, most lines have no effect, and threads of the
 * pool, if any, read the file; otherwise all lines are needed here, and transferring them would take longer than reading
 * them.
 */
export async function loadLargeRollout(pool: CpuPool | undefined, rollout: LargeRollout): Promise<StoredState> {
  return (await foldSegments(pool, rollout)) ?? (await foldLines(fileLines(rollout.path, rollout.conversationId)));
}

/** Returns undefined for an invalid rollout, or one whose lines would nearly all have to be transferred. */
async function foldSegments(pool: CpuPool | undefined, rollout: LargeRollout): Promise<StoredState | undefined> {
  const { path, conversationId } = rollout;
  const replacedAt = await findReplacement(path, conversationId, rollout.bytes);
  if (replacedAt === undefined) return undefined;
  const first = await readFirstLine(path, conversationId);
  if (first?.value.type !== "session_meta") return undefined;
  const parts = await findEarlierParts(first.value, { path, conversationId, line: first.number });
  const segments = segmentsOf(rollout, parts, replacedAt);
  const reading = inOrder(segments, maxParallelSegments, async (segment) => ({
    segment,
    condensed: await (pool === undefined ? condenseRollout(segment) : condenseInThread(pool, segment)),
  }));
  const fold = new CheckedFold();
  let [lines, bytes] = [0, 0];
  for await (const { segment, condensed } of reading) {
    // Another file begins.
    if (segment.range.from === 0) [lines, bytes] = [0, 0];
    if (condensed.status === "corrupted")
      throw corruptedError(segment, first.number, lines + condensed.line, condensed.detail);
    if (condensed.status === "other_form") return undefined;
    if (!segment.shows) fold.transcript.leaveOut();
    for (const piece of condensed.shown) {
      for (const value of linesOf(piece)) fold.addShown(value);
      await yieldToEventLoop();
    }
    for (const piece of condensed.pieces) {
      for (const value of linesOf(piece)) {
        // Other lines were left out because of this one, but it is invalid.
        if (!fold.add(value) && condensed.replaced && replacesEarlierLines(value)) return undefined;
      }
      await yieldToEventLoop();
    }
    lines += condensed.lines;
    bytes += condensed.bytes;
  }
  if (!fold.hasReplaced) return undefined;
  return { state: fold.state, shown: fold.transcript.messages(), bytes, skipped: fold.skipped };
}

/** Lets other conversations use the thread between two pieces. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function corruptedError(
  segment: RolloutSegment,
  firstLineNumber: number,
  line: number,
  detail: string,
): CorruptedRolloutError {
  const { path, conversationId, beginning } = segment;
  if (beginning === undefined) return new CorruptedRolloutError(conversationId, line, detail);
  const where = `its history starts in ${basename(path)}: line ${line}`;
  return new CorruptedRolloutError(conversationId, firstLineNumber, `${where}: ${detail}`);
}

/** Validates and folds the lines of a conversation, in order. */
class CheckedFold {
  readonly state = emptyState();
  readonly transcript = new Transcript();
  /** Number of lines not understood since the history was last replaced as a whole. */
  skipped = 0;
  hasReplaced = false;

  /** Returns whether the line is valid; an invalid one is skipped. */
  add(value: LineObject): boolean {
    const { line, isUnderstood } = checkLine(value);
    if (!isUnderstood) this.skipped += 1;
    if (line === undefined) return false;
    if (replacesHistory(line)) [this.skipped, this.hasReplaced] = [0, true];
    apply(this.state, line);
    this.transcript.add(line);
    return true;
  }

  /** Adds a line to the transcript only, because the history no longer contains it. */
  addShown(value: LineObject): void {
    const { line } = checkLine(value);
    if (line !== undefined) this.transcript.add(line);
  }
}

/** Lines, still packed when they come from a thread. */
type Piece = Uint8Array | readonly LineObject[];

/** Reads a segment in a thread; if that fails for any reason, it is read here. */
async function condenseInThread(pool: CpuPool, segment: RolloutSegment): Promise<CondensedRollout<Piece>> {
  const outcome = await pool.run("condense_rollout", segment);
  return outcome.ok ? outcome.value : await condenseRollout(segment);
}

function linesOf(piece: Piece): readonly LineObject[] {
  return piece instanceof Uint8Array ? (unpack(piece) as LineObject[]) : piece;
}

/** Processes the inputs, a few at a time, and yields the outcomes in the order of the inputs. */
async function* inOrder<Input, Output>(
  inputs: Iterable<Input>,
  atOnce: number,
  work: (input: Input) => Promise<Output>,
): AsyncGenerator<Output> {
  const running: Promise<Output>[] = [];
  for (const input of inputs) {
    const outcome = work(input);
    // The consumer sees a failure when it awaits the outcome; it may have stopped before that.
    outcome.catch(() => undefined);
    running.push(outcome);
    if (running.length < atOnce) continue;
    const [first] = running.splice(0, 1);
    if (first !== undefined) yield await first;
  }
  for (const outcome of running) yield await outcome;
}

interface LargeRollout {
  readonly path: string;
  readonly conversationId: string;
  readonly bytes: number;
  /** Bytes that a thread reads at a time; this bounds its memory, whatever the file's size. */
  readonly segmentBytes?: number;
}

/**
 * The segments of a conversation in reading order: first those inherited from other rollouts, then its own, in which
 * the history is replaced after `replacedAt`.
 */
function* segmentsOf(
  rollout: LargeRollout,
  parts: readonly RolloutPart[],
  replacedAt: number,
): Generator<RolloutSegment> {
  const { path, conversationId, bytes, segmentBytes = defaultSegmentBytes } = rollout;
  for (const part of parts) {
    for (const range of rangesOf(part.bytes, segmentBytes)) {
      const isShown = bytes < shownBytes && range.before > part.bytes - shownBytes;
      yield { path: part.path, conversationId, range, beginning: part.bytes, replaced: true, shows: isShown };
    }
  }
  for (const range of rangesOf(bytes, segmentBytes)) {
    yield {
      path,
      conversationId,
      range,
      replaced: range.before <= replacedAt,
      shows: range.before > bytes - shownBytes,
    };
  }
}

function* rangesOf(bytes: number, segmentBytes: number): Generator<RolloutSegment["range"]> {
  for (let from = 0; from < bytes; from += segmentBytes) {
    // The file may have grown meanwhile, so the last range extends to its end.
    const before = from + segmentBytes < bytes ? from + segmentBytes : Number.POSITIVE_INFINITY;
    yield { from, before };
  }
}

/** Folds the lines of a conversation into its state and transcript. */
export async function foldLines(lines: StoredLines): Promise<StoredState> {
  const state = emptyState();
  const transcript = new Transcript();
  for await (const batch of lines) {
    for (const line of batch) {
      apply(state, line);
      transcript.add(line);
    }
  }
  return { state, shown: transcript.messages(), bytes: lines.end.bytes, skipped: lines.end.skipped };
}

/** Reads a conversation's state at once, which blocks the thread: about 10 ms for each megabyte. */
export function readStateNow(path: string, conversationId: string): ConversationState {
  const state = emptyState();
  for (const line of readRolloutNow(path, conversationId)) apply(state, line);
  return state;
}

/** Reads the lines of a conversation stored in a file. */
export function fileLines(path: string, conversationId: string): StoredLines {
  const rollout = readRollout(path, conversationId);
  return {
    end: rollout.end,
    async *[Symbol.asyncIterator](): AsyncGenerator<OwnLine[]> {
      for await (const batch of rollout.batches()) yield batch.map(({ line }) => line);
    },
  };
}

/** Reads the lines of a file that is located when reading begins. */
export function lazyFileLines(find: () => Promise<string>, conversationId: string): StoredLines {
  const end = { bytes: 0, skipped: 0 };
  return {
    end,
    async *[Symbol.asyncIterator](): AsyncGenerator<readonly OwnLine[]> {
      const lines = fileLines(await find(), conversationId);
      yield* lines;
      Object.assign(end, lines.end);
    },
  };
}
