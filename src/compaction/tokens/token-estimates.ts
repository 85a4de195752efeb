import type { ResponseItem } from "../../messages/response-item.js";
import { countedItem, estimateTokens, imageTokens } from "./estimate-tokens.js";

/** The estimated token counts of items, each computed once. An injected tokenizer takes the place of the estimate. */
export class TokenEstimates {
  /** Whether an injected tokenizer does the counting. */
  readonly isInjected: boolean;
  readonly #countText: (text: string) => number;
  readonly #known = new WeakMap<ResponseItem, number>();

  constructor(tokenizer?: { countTokens(text: string): number }) {
    this.isInjected = tokenizer !== undefined;
    this.#countText = tokenizer === undefined ? estimateTokens : (text) => tokenizer.countTokens(text);
  }

  readonly ofText = (text: string): number => this.#countText(text);

  readonly of = (item: ResponseItem): number => {
    const known = this.#known.get(item) ?? itemTokens(item, this.#countText);
    this.#known.set(item, known);
    return known;
  };

  sumOf(items: readonly ResponseItem[]): number {
    return items.reduce((sum, item) => sum + this.of(item), 0);
  }
}

/** Counts the text of an item with the given function, and adds a fixed number for each image. */
export function itemTokens(item: ResponseItem, countText: (text: string) => number): number {
  const { text, images } = countedItem(item);
  return countText(text) + images * imageTokens;
}
