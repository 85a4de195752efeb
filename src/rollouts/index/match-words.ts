import { type Excerpt, excerptOf } from "./excerpt.js";
import { lowercase } from "./folded.js";
import type { SearchableMessage } from "./said-message.js";

const maxExcerpts = 3;

/** Splits a query into distinct words for comparison; a word contained in another one counts separately. */
export function wordsIn(texts: readonly string[]): string[] {
  const words = texts
    .join(" ")
    .split(/[\s\0]+/)
    .map((word) => lowercase(word.toWellFormed()));
  return [...new Set(words.filter((word) => word !== ""))];
}

/** Searches one conversation for words, all of which must occur somewhere in it. */
export class WordSearch {
  readonly #words: readonly string[];
  readonly #missing: Set<string>;
  #best: { readonly message: SearchableMessage; readonly count: number }[] = [];

  constructor(words: readonly string[]) {
    this.#words = words;
    this.#missing = new Set(words);
  }

  add(message: SearchableMessage): void {
    const text = lowercase(message.text);
    const found = this.#words.filter((word) => text.includes(word));
    if (found.length === 0) return;
    for (const word of found) this.#missing.delete(word);
    const best = [...this.#best, { message, count: found.length }];
    this.#best = best
      .toSorted((a, b) => b.count - a.count || a.message.offset - b.message.offset)
      .slice(0, maxExcerpts);
  }

  /** Returns the messages with the most words, in conversation order; undefined when a word is missing. */
  excerpts(): Excerpt[] | undefined {
    if (this.#missing.size > 0) return undefined;
    return this.#best
      .map(({ message }) => message)
      .toSorted((a, b) => a.offset - b.offset)
      .map((message) => excerptOf(message, this.#words));
  }
}
