import { CorruptedRolloutError } from "../../messages/errors.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { CpuJobs, FoldedRollout } from "../../workers/cpu-jobs.js";
import { pack } from "../../workers/pack.js";
import { fileLines } from "./file-lines.js";
import { foldLines } from "./fold-lines.js";

/** About as much as the main thread reads in a millisecond. */
const pieceBytes = 64 * 1024;

/** Reads, checks and folds a rollout where it disturbs nobody; runs in a thread, its counterpart is `loadInThread`. */
export async function foldRollout({ path, conversationId }: CpuJobs["load_rollout"]["input"]): Promise<FoldedRollout> {
  try {
    const { state, bytes, skipped } = await foldLines(fileLines(path, conversationId));
    const { history, ...rest } = state;
    return { status: "folded", state: pack(rest), history: packedPieces(history), bytes, skipped };
  } catch (error) {
    if (!(error instanceof CorruptedRolloutError)) throw error;
    return { status: "corrupted", line: error.line, detail: error.detail };
  }
}

function packedPieces(items: readonly ResponseItem[]): Uint8Array[] {
  const pieces: ResponseItem[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const size = pack(item).byteLength;
    if (bytes + size > pieceBytes) {
      pieces.push([]);
      bytes = 0;
    }
    pieces.at(-1)?.push(item);
    bytes += size;
  }
  return pieces.map(pack);
}
