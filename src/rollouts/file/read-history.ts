import { InvalidInputError } from "../../base/errors.js";
import type { RolloutSource } from "../../messages/actors/compactor.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { applyToHistory } from "./history.js";
import { readRollout } from "./read.js";

/** Reads a history from the written part of a rollout and the lines after it. */
export async function readHistory(
  conversationId: string,
  { path, bytes, tail, length }: RolloutSource,
): Promise<ResponseItem[]> {
  const history: ResponseItem[] = [];
  const reading = readRollout(path, conversationId, { upTo: bytes });
  for await (const batch of reading.batches()) for (const { line } of batch) applyToHistory(history, line);
  for (const line of tail) applyToHistory(history, line);
  if (history.length === length) return history;
  throw new InvalidInputError(
    `Conversation ${conversationId}: its rollout has ${history.length} items instead of ${length}; it was changed by another program`,
  );
}
