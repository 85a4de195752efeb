import { type ResponseItem, itemText } from "../messages/response-item.js";
import type { RolloutLine } from "../messages/rollout-line.js";
import { isRealUserMessage } from "../messages/user-message.js";
import { applyToHistory } from "./file/history.js";

/** An item the model does not see any more. */
export interface EarlierItem {
  readonly item: ResponseItem;
  /** The first is 1; 0 for what stands before anybody said something. */
  readonly turn: number;
}

/**
 * What compactions took out of a history, oldest first. Holds no more at once than what stood between two of them, which
 * a model once saw as a whole. What was taken back before a compaction is not in it, and what `history` still has is not.
 */
export async function* compactedAway(
  batches: AsyncIterable<readonly RolloutLine[]>,
  history: readonly ResponseItem[],
): AsyncGenerator<EarlierItem> {
  const seen = new Set(history.map(keyOf));
  const turns = new WeakMap<ResponseItem, number>();
  const since: ResponseItem[] = [];
  let turn = 0;
  for await (const lines of batches) {
    for (const line of lines) {
      if (line.type === "compacted") {
        for (const item of since.splice(0)) {
          if (isWorded(item) && !seen.has(keyOf(item))) yield { item, turn: turns.get(item) ?? turn };
        }
        continue;
      }
      applyToHistory(since, line);
      if (line.type !== "response_item") continue;
      // What is pinned begins no turn.
      if (isRealUserMessage(line.payload) && line.payload.pinned !== true) turn += 1;
      turns.set(line.payload, turn);
    }
  }
}

function isWorded(item: ResponseItem): boolean {
  const isSummary = item.type === "message" && item.summary === true;
  return !isSummary && itemText(item) !== "";
}

/** What tells items apart for a reader, however they were written down. */
function keyOf(item: ResponseItem): string {
  const [callId, role] = ["call_id" in item ? item.call_id : "", item.type === "message" ? item.role : ""];
  return JSON.stringify([item.type, role, callId, itemText(item)]);
}
