import {
  imageTokens,
  countedItem,
  type Encoding,
  encodingOf,
  estimateTokens,
} from "../../compaction/tokens/estimate-tokens.js";
import { FailureError } from "../../messages/failure-error.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { makeFailure, messageOf } from "../runtime/failures.js";

const maxReasonChars = 200;

type Counts = WeakMap<ResponseItem, number>;

/** The token counts of items: exact where they were counted, estimated until then. Kept as long as the item exists. */
export class TokenCounts {
  readonly #tokenizer: Tokenizer | undefined;
  readonly #exact: Readonly<Record<Encoding, Counts>> = { cl100k_base: new WeakMap(), o200k_base: new WeakMap() };
  readonly #estimated: Counts = new WeakMap();

  /** An injected tokenizer counts directly in this thread. */
  constructor(tokenizer?: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** Whether an injected tokenizer does the counting. */
  get isInjected(): boolean {
    return this.#tokenizer !== undefined;
  }

  of(item: ResponseItem, model: string): number {
    return this.#exact[encodingOf(model)].get(item) ?? this.#estimate(item);
  }

  /** Returns the items without an exact count. */
  uncounted(items: readonly ResponseItem[], model: string): ResponseItem[] {
    if (this.#tokenizer !== undefined) return [];
    const exact = this.#exact[encodingOf(model)];
    return items.filter((item) => !exact.has(item));
  }

  /** `tokens` is the count of the item's text, without its images. */
  set(item: ResponseItem, model: string, tokens: number): void {
    this.#exact[encodingOf(model)].set(item, tokens + countedItem(item).images * imageTokens);
  }

  /** Counts a text that is not an item. */
  ofText(text: string): number {
    return this.#tokenizer?.countTokens(text) ?? estimateTokens(text);
  }

  #estimate(item: ResponseItem): number {
    const known = this.#estimated.get(item);
    if (known !== undefined) return known;
    const { text, images } = countedItem(item);
    const tokens = this.ofText(text) + images * imageTokens;
    this.#estimated.set(item, tokens);
    return tokens;
  }
}

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
        if (!isReported) warn(`${messageOf(error)}; using an estimate instead`);
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
    throw tokenizerFailure(`failed: ${messageOf(error).slice(0, maxReasonChars)}`, error);
  }
  if (typeof tokens === "number") return tokens;
  throw tokenizerFailure(typeof tokens === "object" ? "returned an object" : `returned a ${typeof tokens}`);
}

function tokenizerFailure(reason: string, cause?: unknown): FailureError {
  return new FailureError(makeFailure("internal", `tokenizer: countTokens() ${reason}`), { cause });
}
