import { type Encoding, encodingOf } from "../../compaction/tokens/encoding-of.js";
import { estimateTokens } from "../../compaction/tokens/estimate-tokens.js";
import { imageTokens, countedItem } from "../../compaction/tokens/counted-item.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Tokenizer } from "./injected-tokenizer.js";

type Counts = WeakMap<ResponseItem, number>;

/** How many tokens items have: the exact number where they were counted, an estimate until then. Kept while the item lives. */
export class TokenCounts {
  readonly #tokenizer: Tokenizer | undefined;
  readonly #exact: Readonly<Record<Encoding, Counts>> = { cl100k_base: new WeakMap(), o200k_base: new WeakMap() };
  readonly #estimated: Counts = new WeakMap();

  /** An injected tokenizer counts where it is asked. */
  constructor(tokenizer?: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** Whether somebody else says what a text counts. */
  get isInjected(): boolean {
    return this.#tokenizer !== undefined;
  }

  of(item: ResponseItem, model: string): number {
    return this.#exact[encodingOf(model)].get(item) ?? this.#estimate(item);
  }

  /** Those that have no exact count yet. */
  uncounted(items: readonly ResponseItem[], model: string): ResponseItem[] {
    if (this.#tokenizer !== undefined) return [];
    const exact = this.#exact[encodingOf(model)];
    return items.filter((item) => !exact.has(item));
  }

  /** `tokens` is the count of its text. */
  set(item: ResponseItem, model: string, tokens: number): void {
    this.#exact[encodingOf(model)].set(item, tokens + countedItem(item).images * imageTokens);
  }

  /** For texts that are no items. */
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
