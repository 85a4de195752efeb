import { borderBefore } from "../../base/text/truncate.js";
import type { SearchableMessage } from "./conversation-fold.js";

const charsBefore = 60;

const charsBehind = 140;

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

/** An excerpt of a message with the positions of the words in it. */
export interface Excerpt {
  readonly role: SearchableMessage["role"];
  readonly kind: SearchableMessage["kind"];
  readonly tool?: string;
  readonly text: string;
  /** Start and end of each word in `text`. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

function excerptOf({ role, kind, toolName, text }: SearchableMessage, words: readonly string[]): Excerpt {
  const first = Math.min(...words.map((word) => lowercase(text).indexOf(word)).filter((at) => at !== -1));
  const from = borderBefore(text, Math.max(0, first - charsBefore));
  const to = borderBefore(text, Math.min(text.length, first + charsBehind));
  // Words contain no spaces, so collapsing spaces keeps them intact.
  const piece = text.slice(from, to).replaceAll(/\s+/g, " ").trim();
  const excerpt = `${from > 0 ? "…" : ""}${piece}${to < text.length ? "…" : ""}`;
  return {
    role,
    kind,
    ...(toolName === null ? {} : { tool: toolName }),
    text: excerpt,
    marks: marksIn(excerpt, words),
  };
}

/** Overlapping words share one mark. */
function marksIn(text: string, words: readonly string[]): [number, number][] {
  const lower = lowercase(text);
  const hits = words.flatMap((word) => hitsOf(lower, word)).toSorted((a, b) => a[0] - b[0]);
  const marks: [number, number][] = [];
  for (const [from, to] of hits) {
    const last = marks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else marks.push([from, to]);
  }
  return marks;
}

function hitsOf(text: string, word: string): [number, number][] {
  const hits: [number, number][] = [];
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    hits.push([at, at + word.length]);
  }
  return hits;
}

/** Lowercases a text without changing its length, so that positions stay valid. */
export function lowercase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (char) => (char.toLowerCase().length === char.length ? char.toLowerCase() : char)).join("");
}
