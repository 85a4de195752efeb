import { COMPACT_USER_MESSAGE_MAX_TOKENS } from "../constants.js";
import { estimateTokens } from "../tokens/estimate-tokens.js";
import { truncateMiddle } from "./truncate-middle.js";

/**
 * Returns the newest messages that fit, in order. The first that does not fit is cut in the middle; older ones are
 * dropped.
 */
export function selectRecentMessages(
  messages: readonly string[],
  maxTokens: number = COMPACT_USER_MESSAGE_MAX_TOKENS,
  countTokens: (text: string) => number = estimateTokens,
): string[] {
  const selected: string[] = [];
  let left = maxTokens;
  for (const message of messages.toReversed()) {
    if (left <= 0) break;
    const tokens = countTokens(message);
    selected.push(tokens <= left ? message : truncateMiddle(message, left, countTokens));
    left -= tokens;
  }
  return selected.toReversed();
}
