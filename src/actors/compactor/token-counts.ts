import { type Encoding, encodingOf } from "../../compaction/tokens/encoding-of.js";
import { estimateTokens } from "../../compaction/tokens/estimate-tokens.js";
import { imageTokens, countedItem } from "../../compaction/tokens/counted-item.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Tokenizer } from "./injected-tokenizer.js";

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
