import { estimateTokens } from "../../compaction/tokens/estimate-tokens.js";
import { failed, messageOf } from "../runtime/failures.js";
import { FailureError } from "../../messages/failure.js";

/** Counts tokens; without one the count is an estimate. */
export interface Tokenizer {
  /** At once and for any text; what is no count of tokens is estimated instead, and told once. */
  countTokens(text: string): number;
}

const maxReasonChars = 200;

/** What an injected tokenizer says of a text, in whole tokens; throws a `FailureError` when that is no count. */
export function countedBy(tokenizer: Tokenizer, text: string): number {
  const tokens = answered(tokenizer, text);
  const whole = Math.ceil(tokens);
  if (tokens >= 0 && Number.isSafeInteger(whole)) return whole;
  throw notCounted(`gave ${tokens}`);
}

/** One whose answers can be trusted: a count that cannot be used would stand in the rollout and stop every compaction. */
export function forgiving(tokenizer: Tokenizer, warn: (message: string) => void): Tokenizer {
  let isTold = false;
  return {
    countTokens: (text) => {
      try {
        return countedBy(tokenizer, text);
      } catch (error) {
        if (!isTold) warn(`${messageOf(error)}; what it cannot count is estimated`);
        isTold = true;
        return estimateTokens(text);
      }
    },
  };
}

function answered(tokenizer: Tokenizer, text: string): number {
  let tokens: unknown;
  try {
    tokens = tokenizer.countTokens(text);
  } catch (error) {
    throw notCounted(`failed: ${messageOf(error).slice(0, maxReasonChars)}`, error);
  }
  if (typeof tokens === "number") return tokens;
  throw notCounted(typeof tokens === "object" ? "gave an object" : `gave a ${typeof tokens}`);
}

function notCounted(reason: string, cause?: unknown): FailureError {
  return new FailureError(failed("internal", `tokenizer: countTokens() ${reason}`), { cause });
}
