import type { MessageItem } from "../../messages/response-item.js";
import { MIN_CUT_TOKENS } from "../constants.js";
import { cutItem, withoutMedia } from "./cut-item.js";
import type { CountItem } from "../strategy.js";

export interface NewestOptions {
  readonly budget: number;
  readonly count: CountItem;
  /** Keeps the last message even if the budget is too small and it must be cut. */
  readonly keepLast: boolean;
}

/**
 * Returns the newest messages that fit the budget, in order. A message that does not fit loses its images first; the
 * first whose text still does not fit is cut in the middle, and all older messages are dropped.
 */
export function keepNewest(
  messages: readonly MessageItem[],
  { budget, count, keepLast }: NewestOptions,
): MessageItem[] {
  const kept: MessageItem[] = [];
  let left = keepLast ? Math.max(budget, MIN_CUT_TOKENS) : budget;
  for (const message of messages.toReversed()) {
    const fitting = count(message) <= left ? message : (withoutMedia(message) as MessageItem);
    const tokens = count(fitting);
    if (tokens > left) {
      if (left >= MIN_CUT_TOKENS) kept.push(cutItem(fitting, left, count) as MessageItem);
      break;
    }
    kept.push(fitting);
    left -= tokens;
  }
  return kept.toReversed();
}
