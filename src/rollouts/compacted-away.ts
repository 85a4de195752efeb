import { type ResponseItem, itemText } from "../messages/response-item.js";
import type { RolloutLine } from "../messages/rollout-line.js";
import { isRealUserMessage } from "../base/codex/context-message.js";
import { applyToHistory } from "./file/history.js";

/** An item that the model no longer sees. */
export interface EarlierItem {
  readonly item: ResponseItem;
  /** Number of the turn, from 1; 0 for items before the first user message. */
  readonly turn: number;
}

/**
 * Yields the items that compactions removed from a history, oldest first. It holds at most the items between two
 * compactions in memory, which once fit a model's context. Items rolled back before a compaction and items still in
 * `history` are left out.
 */
export async function* removedItems(
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
      // A pinned message does not begin a turn.
      if (isRealUserMessage(line.payload) && line.payload.pinned !== true) turn += 1;
      turns.set(line.payload, turn);
    }
  }
}

function isWorded(item: ResponseItem): boolean {
  const isSummary = item.type === "message" && item.summary === true;
  return !isSummary && itemText(item) !== "";
}

/** Identifies an item by the content a reader sees, however it was serialized. */
function keyOf(item: ResponseItem): string {
  const [callId, role] = ["call_id" in item ? item.call_id : "", item.type === "message" ? item.role : ""];
  return JSON.stringify([item.type, role, callId, itemText(item)]);
}
