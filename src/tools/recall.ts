import * as z from "zod";
import { counted } from "../base/text/counted.js";
import { type ResponseItem, itemText } from "../messages/response-item.js";
import { defineTool } from "./define-tool.js";
import { failureText } from "./files/file-problem.js";
import type { EarlierItem } from "./tool.js";

/** The maximum number of places shown of one text; with more, each would be too short to understand. */
const maxPlaces = 3;

const gap = " […] ";

const outer = /^[^\p{L}\p{N}_/.$@#-]+|[^\p{L}\p{N}_/]+$/gu;

const maxQueryChars = 500;
const maxLimit = 20;
const defaultLimit = 8;
const maxExcerptChars = 600;
const maxAnswerChars = 8_000;

const RecallArguments = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(maxQueryChars)
    .describe("A few distinctive words, such as names, paths or an error message"),
  limit: z.int().min(1).max(maxLimit).optional().describe(`Maximum number of excerpts; ${defaultLimit} by default`),
});

export const recall = defineTool({
  name: "recall",
  description:
    "Searches the earlier part of this conversation that was replaced by a summary. Returns excerpts, " +
    "those that match most words first, then the newest.",
  parameters: RecallArguments,
  readOnly: true,
  readsOutside: false,
  run: async ({ query, limit = defaultLimit }, { earlier, signal }) => {
    if (earlier === undefined) return failed("This conversation is not saved: the compacted part is gone.");
    const words = wordsOf(query);
    if (words.length === 0) return failed("The query has no words.");
    try {
      return answer(await search(earlier(), words, limit, signal), words);
    } catch (error) {
      return failed(`Cannot read the compacted part of the conversation: ${failureText(error)}`);
    }
  },
});

interface Hit {
  /** How many of the query's words it contains. */
  readonly words: number;
  readonly text: string;
}

interface Found {
  /** The number of items searched, and of those that contain a word. */
  readonly items: number;
  readonly matching: number;
  readonly best: readonly Hit[];
}

/** Keeps only the best hits while reading, because the compacted history may be of any size. */
async function search(
  earlier: AsyncIterable<EarlierItem>,
  words: readonly string[],
  limit: number,
  signal: AbortSignal,
): Promise<Found> {
  const labels = new ItemLabels(recall.name);
  const best: Hit[] = [];
  let items = 0;
  let matching = 0;
  for await (const { item, turn } of earlier) {
    signal.throwIfAborted();
    const label = labels.of(item);
    // Skips this tool's own calls and outputs, which would repeat what was found before.
    if (label === undefined) continue;
    items += 1;
    const text = itemText(item);
    const lower = text.toLowerCase();
    const count = words.filter((word) => lower.includes(word)).length;
    if (count === 0) continue;
    matching += 1;
    const place = best.findIndex((hit) => hit.words <= count);
    if (place === -1 && best.length === limit) continue;
    const excerpt = excerptAround(text, words, maxExcerptChars);
    best.splice(place === -1 ? best.length : place, 0, { words: count, text: `turn ${turn}, ${label}:\n${excerpt}` });
    best.length = Math.min(best.length, limit);
  }
  return { items, matching, best };
}

function answer({ items, matching, best }: Found, words: readonly string[]): string {
  if (items === 0) return "This conversation was not compacted: you can see all of it.";
  if (matching === 0) return `None of the ${items} earlier items has any of these words: ${words.join(" ")}`;
  const result: string[] = [];
  let room = maxAnswerChars;
  for (const { text } of best) {
    const entry = `[${result.length + 1}] ${text}`;
    if (entry.length > room) break;
    room -= entry.length;
    result.push(entry);
  }
  const more = matching - result.length;
  return [
    ...result,
    ...(more === 0 ? [] : [`Not shown: ${counted(more, "earlier item")} with some of these words.`]),
  ].join("\n\n");
}

function failed(content: string): { content: string; success: false } {
  return { content, success: false };
}

/** Labels items with their source. Items must be passed in order, because an output does not name its tool. */
class ItemLabels {
  readonly #own: string;
  /** Tool names of calls without an output yet, by call id. */
  readonly #called = new Map<string, string>();

  /** `own`: the tool whose calls and outputs get no label. */
  constructor(own: string) {
    this.#own = own;
  }

  of(item: ResponseItem): string | undefined {
    switch (item.type) {
      case "message":
        return item.role;
      case "function_call":
      case "custom_tool_call":
        this.#called.set(item.call_id, item.name);
        return item.name === this.#own ? undefined : `call of ${item.name}`;
      case "local_shell_call":
        return "call of shell";
      case "function_call_output":
      case "custom_tool_call_output": {
        const name = this.#called.get(item.call_id);
        this.#called.delete(item.call_id);
        if (name === undefined) return "output of a tool";
        return name === this.#own ? undefined : `output of ${name}`;
      }
      default:
        return item.type;
    }
  }
}

/** The distinct words of a query in lower case, without surrounding punctuation. */
function wordsOf(query: string): string[] {
  const words = query.toLowerCase().split(/\s+/);
  return [...new Set(words.map((word) => word.replace(outer, "")))].filter((word) => word !== "");
}

/** At most `maxChars` of a text, from around the first occurrences of the words. */
function excerptAround(text: string, words: readonly string[], maxChars: number): string {
  if (text.length <= maxChars) return text;
  const places = placesOf(text, words, Math.floor(maxChars / maxPlaces));
  const each = Math.floor(maxChars / places.length) - gap.length * 2;
  const ranges = rangesAround(places, each, text.length);
  const pieces = ranges.map(({ from, to }) => text.slice(from, to).toWellFormed());
  if (ranges[0]?.from !== 0) pieces.unshift("");
  if (ranges.at(-1)?.to !== text.length) pieces.push("");
  return pieces.join(gap).trim();
}

/** The first occurrence of each word; those close together count as one. */
function placesOf(text: string, words: readonly string[], apart: number): number[] {
  const lower = text.toLowerCase();
  const all = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1);
  const places: number[] = [];
  for (const place of all.toSorted((a, b) => a - b)) {
    if (place - (places.at(-1) ?? -apart) >= apart) places.push(place);
  }
  return places.slice(0, maxPlaces);
}

interface Range {
  readonly from: number;
  to: number;
}

/** A third of each range is before its place, because the text that follows is mostly more informative. */
function rangesAround(places: readonly number[], each: number, length: number): Range[] {
  const ranges: Range[] = [];
  for (const place of places) {
    const from = Math.max(0, Math.min(place - Math.floor(each / 3), length - each));
    const before = ranges.at(-1);
    if (before !== undefined && from <= before.to) before.to = Math.min(length, from + each);
    else ranges.push({ from, to: Math.min(length, from + each) });
  }
  return ranges;
}
