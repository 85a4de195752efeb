import { CorruptedRolloutError } from "../../messages/errors.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { FoldedRollout } from "../../workers/cpu-jobs.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import { unpack } from "../../workers/pack.js";
import type { ConversationState } from "./state.js";
import type { StoredState } from "./store.js";

/**
 * Lets a thread read and fold a rollout. Gives nothing when it could not, whatever the reason: then the main thread reads
 * it, and what is wrong with the file is said as ever.
 */
export async function loadInThread(
  pool: CpuPool,
  path: string,
  conversationId: string,
): Promise<StoredState | undefined> {
  const outcome = await pool.run("load_rollout", { path, conversationId });
  if (!outcome.ok) return undefined;
  if (outcome.value.status === "corrupted") {
    throw new CorruptedRolloutError(conversationId, outcome.value.line, outcome.value.detail);
  }
  return await unfolded(outcome.value).catch(() => undefined);
}

async function unfolded(folded: Extract<FoldedRollout, { status: "folded" }>): Promise<StoredState> {
  const rest = unpack(folded.state) as Omit<ConversationState, "history">;
  const history: ResponseItem[] = [];
  for (const piece of folded.history) {
    for (const item of unpack(piece) as ResponseItem[]) history.push(item);
    // Others have their turn between two pieces.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { state: { ...rest, history }, bytes: folded.bytes, skipped: folded.skipped };
}
