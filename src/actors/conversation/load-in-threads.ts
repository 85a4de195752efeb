import { basename } from "node:path";
import { CorruptedRolloutError } from "../../messages/errors.js";
import { firstLine, partsBefore } from "../../rollouts/history-base.js";
import type { CondensedRollout, RolloutStretch } from "../../workers/cpu-jobs.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import { CheckedFold } from "./checked-fold.js";
import { condenseInThread, linesOf, type Piece } from "./condense-in-thread.js";
import { fileLines } from "./file-lines.js";
import { foldLines } from "./fold-lines.js";
import { inOrder } from "./in-order.js";
import { outdoesOthers } from "./line-use.js";
import type { StoredState } from "./store.js";
import { type LargeRollout, stretchesOf } from "./stretches.js";

/** Two are read in threads while the main thread takes in a third. */
const stretchesAtOnce = 3;

interface ReadStretch {
  readonly stretch: RolloutStretch;
  readonly condensed: CondensedRollout<Piece>;
}

/** Lets threads read a rollout, stretch by stretch, and folds what matters of it: the state that `foldLines` gives. */
export async function loadInThreads(pool: CpuPool, rollout: LargeRollout): Promise<StoredState> {
  return (await foldStretches(pool, rollout)) ?? (await foldLines(fileLines(rollout.path, rollout.conversationId)));
}

/** Gives nothing for a rollout that is not what it looks like. */
async function foldStretches(pool: CpuPool, rollout: LargeRollout): Promise<StoredState | undefined> {
  const { path, conversationId } = rollout;
  const first = await firstLine(path, conversationId);
  if (first?.value.type !== "session_meta") return undefined;
  const parts = await partsBefore(first.value, { path, conversationId, line: first.number });
  const reading = newestFirst(pool, [...stretchesOf(rollout, parts)]);
  const fold = new CheckedFold();
  let [lines, bytes] = [0, 0];
  for await (const { stretch, condensed } of reading) {
    // Another file begins.
    if (stretch.range.from === 0) [lines, bytes] = [0, 0];
    if (condensed.status === "corrupted") throw damage(stretch, first.number, lines + condensed.line, condensed.detail);
    if (condensed.status === "other_form") return undefined;
    for (const piece of condensed.pieces) {
      for (const value of linesOf(piece)) {
        // Others were left out for its sake.
        if (!fold.add(value) && condensed.replaced && outdoesOthers(value)) return undefined;
      }
      // Others have their turn between two pieces.
      await new Promise((resolve) => setImmediate(resolve));
    }
    lines += condensed.lines;
    bytes += condensed.bytes;
  }
  return { state: fold.state, bytes, skipped: fold.skipped };
}

/**
 * In order; but the last is read first: when the history is replaced in it, nothing of it is wanted from the others. Only
 * the first does not wait for that, so that a second thread starts meanwhile.
 */
async function* newestFirst(pool: CpuPool, stretches: readonly RolloutStretch[]): AsyncGenerator<ReadStretch> {
  const [oldest, newest] = [stretches[0], stretches.at(-1)];
  if (oldest === undefined || newest === undefined) return;
  const first = readStretch(pool, oldest);
  // Whoever waits for it hears of a failure; nobody does when the newest fails before.
  first.catch(() => undefined);
  const last = oldest === newest ? await first : await readStretch(pool, newest);
  const replaced = last.condensed.status === "read" && last.condensed.replaced;
  yield* inOrder(stretches.slice(0, -1), stretchesAtOnce, (stretch) =>
    stretch === oldest ? first : readStretch(pool, { ...stretch, replaced }),
  );
  yield last;
}

async function readStretch(pool: CpuPool, stretch: RolloutStretch): Promise<ReadStretch> {
  return { stretch, condensed: await condenseInThread(pool, stretch) };
}

function damage(stretch: RolloutStretch, firstLineNumber: number, line: number, detail: string): CorruptedRolloutError {
  const { path, conversationId, beginning } = stretch;
  if (beginning === undefined) return new CorruptedRolloutError(conversationId, line, detail);
  const where = `it begins in ${basename(path)}: line ${line}`;
  return new CorruptedRolloutError(conversationId, firstLineNumber, `${where}: ${detail}`);
}
