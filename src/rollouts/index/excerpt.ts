import { borderBefore } from "../../base/text/truncate.js";
import { lowercase } from "./folded.js";
import type { SearchableMessage } from "./said-message.js";

/** An excerpt of a message with the positions of the words in it. */
export interface Excerpt {
  readonly role: SearchableMessage["role"];
  readonly kind: SearchableMessage["kind"];
  readonly tool?: string;
  readonly text: string;
  /** Start and end of each word in `text`. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

const charsBefore = 60;
const charsBehind = 140;

export function excerptOf({ role, kind, toolName, text }: SearchableMessage, words: readonly string[]): Excerpt {
  const first = Math.min(...words.map((word) => lowercase(text).indexOf(word)).filter((at) => at !== -1));
  const from = borderBefore(text, Math.max(0, first - charsBefore));
  const to = borderBefore(text, Math.min(text.length, first + charsBehind));
  // Words contain no spaces, so collapsing spaces keeps them intact.
  const piece = text.slice(from, to).replaceAll(/\s+/g, " ").trim();
  const shown = `${from > 0 ? "…" : ""}${piece}${to < text.length ? "…" : ""}`;
  return { role, kind, ...(toolName === null ? {} : { tool: toolName }), text: shown, marks: marksIn(shown, words) };
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
