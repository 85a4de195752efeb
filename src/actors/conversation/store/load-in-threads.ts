import { basename } from "node:path";
import { CorruptedRolloutError } from "../../../messages/errors.js";
import { findReplacement } from "../../../rollouts/find-replacement.js";
import { firstLine, partsBefore } from "../../../rollouts/file/history-base.js";
import type { RolloutStretch } from "../../../workers/cpu-jobs.js";
import type { CpuPool } from "../../../workers/open-cpu-pool.js";
import { CheckedFold } from "./checked-fold.js";
import { condenseInThread, linesOf } from "./condense-in-thread.js";
import { fileLines } from "./file-lines.js";
import { foldLines } from "./fold-lines.js";
import { inOrder } from "./in-order.js";
import { outdoesOthers } from "./line-use.js";
import type { StoredState } from "./store.js";
import { type LargeRollout, stretchesOf } from "./split-rollout.js";

/** Two are read in threads while the main thread takes in a third. */
const stretchesAtOnce = 3;

/**
 * What `foldLines` makes of a rollout. When its history was replaced near its end, nothing comes of most of it, and
 * threads read it; otherwise everything is wanted here, and to send it would take longer than to read it.
 */
export async function loadInThreads(pool: CpuPool, rollout: LargeRollout): Promise<StoredState> {
  return (await foldStretches(pool, rollout)) ?? (await foldLines(fileLines(rollout.path, rollout.conversationId)));
}

/** Gives nothing for a rollout that is not what it looks like, or that threads would have to send as a whole. */
async function foldStretches(pool: CpuPool, rollout: LargeRollout): Promise<StoredState | undefined> {
  const { path, conversationId } = rollout;
  const replacedAt = await findReplacement(path, conversationId, rollout.bytes);
  if (replacedAt === undefined) return undefined;
  const first = await firstLine(path, conversationId);
  if (first?.value.type !== "session_meta") return undefined;
  const parts = await partsBefore(first.value, { path, conversationId, line: first.number });
  const stretches = stretchesOf(rollout, parts, replacedAt);
  const reading = inOrder(stretches, stretchesAtOnce, async (stretch) => ({
    stretch,
    condensed: await condenseInThread(pool, stretch),
  }));
  const fold = new CheckedFold();
  let [lines, bytes] = [0, 0];
  for await (const { stretch, condensed } of reading) {
    // Another file begins.
    if (stretch.range.from === 0) [lines, bytes] = [0, 0];
    if (condensed.status === "corrupted") throw damage(stretch, first.number, lines + condensed.line, condensed.detail);
    if (condensed.status === "other_form") return undefined;
    if (!stretch.shows) fold.transcript.leaveOut();
    for (const piece of condensed.shown) {
      for (const value of linesOf(piece)) fold.addShown(value);
      await othersTurn();
    }
    for (const piece of condensed.pieces) {
      for (const value of linesOf(piece)) {
        // Others were left out for its sake.
        if (!fold.add(value) && condensed.replaced && outdoesOthers(value)) return undefined;
      }
      await othersTurn();
    }
    lines += condensed.lines;
    bytes += condensed.bytes;
  }
  if (!fold.hasReplaced) return undefined;
  return { state: fold.state, shown: fold.transcript.messages(), bytes, skipped: fold.skipped };
}

/** Other conversations get the thread between two pieces. */
function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function damage(stretch: RolloutStretch, firstLineNumber: number, line: number, detail: string): CorruptedRolloutError {
  const { path, conversationId, beginning } = stretch;
  if (beginning === undefined) return new CorruptedRolloutError(conversationId, line, detail);
  const where = `it begins in ${basename(path)}: line ${line}`;
  return new CorruptedRolloutError(conversationId, firstLineNumber, `${where}: ${detail}`);
}
