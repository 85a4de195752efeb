import type { MessageItem } from "../../messages/response-item.js";
import { MIN_CUT_TOKENS } from "../constants.js";
import { cutItem, withoutMedia } from "./cut-item.js";
import type { CountItem } from "../strategy.js";

export interface NewestOptions {
  readonly budget: number;
  readonly count: CountItem;
  /** Whether the very last one stays even if it must be cut to more than the budget. */
  readonly keepLast: boolean;
}

/**
 * The newest messages that fit the budget, in order. One with images that does not fit goes without them; the first whose
 * words do not fit is cut in the middle, and none before it is taken.
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
