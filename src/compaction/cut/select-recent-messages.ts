import { COMPACT_USER_MESSAGE_MAX_TOKENS } from "../constants.js";
import { estimateTokens } from "../tokens/estimate-tokens.js";
import { truncateMiddle } from "./truncate-middle.js";

/** The newest messages that fit, in order; the first that does not is cut in the middle, and none before it is taken. */
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
