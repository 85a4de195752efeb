import { errorMessage } from "../../base/error-message.js";
import { estimateTokens } from "../../compaction/tokens/estimate-tokens.js";
import { FailureError } from "../../messages/failure-error.js";
import { makeFailure } from "../runtime/failures.js";

const maxReasonChars = 200;

/** Counts tokens. Without a tokenizer, token counts are estimates. */
export interface Tokenizer {
  /** Must be synchronous and accept any text. An invalid count is replaced by an estimate, with one warning. */
  countTokens(text: string): number;
}

/** Returns the injected tokenizer's count of a text, in whole tokens; throws a `FailureError` when it is invalid. */
export function countWith(tokenizer: Tokenizer, text: string): number {
  const tokens = callTokenizer(tokenizer, text);
  const whole = Math.ceil(tokens);
  if (tokens >= 0 && Number.isSafeInteger(whole)) return whole;
  throw tokenizerFailure(`returned ${tokens}`);
}

/** Wraps a tokenizer so that its counts are always valid: an invalid one in the rollout would stop every compaction. */
export function withEstimateFallback(tokenizer: Tokenizer, warn: (message: string) => void): Tokenizer {
  let isReported = false;
  return {
    countTokens: (text) => {
      try {
        return countWith(tokenizer, text);
      } catch (error) {
        if (!isReported) warn(`${errorMessage(error)}; using an estimate instead`);
        isReported = true;
        return estimateTokens(text);
      }
    },
  };
}

function callTokenizer(tokenizer: Tokenizer, text: string): number {
  let tokens: unknown;
  try {
    tokens = tokenizer.countTokens(text);
  } catch (error) {
    throw tokenizerFailure(`failed: ${errorMessage(error).slice(0, maxReasonChars)}`, error);
  }
  if (typeof tokens === "number") return tokens;
  throw tokenizerFailure(typeof tokens === "object" ? "returned an object" : `returned a ${typeof tokens}`);
}

function tokenizerFailure(reason: string, cause?: unknown): FailureError {
  return new FailureError(makeFailure("internal", `tokenizer: countTokens() ${reason}`), { cause });
}
