import { isRecord } from "../../base/is-record.js";
import { eventJson } from "./event-json.js";

/** The fields that differ from one delta to the next, by their names in the wire APIs. */
const varying: ReadonlySet<string> = new Set([
  "delta",
  "text",
  "content",
  "thinking",
  "reasoning",
  "reasoning_content",
  "sequence_number",
  "obfuscation",
]);

const maxDepth = 4;

/** V8 copies substrings up to this length instead of referring to the original string. */
const maxCopiedChars = 12;

const isDigit = (code: number): boolean => code >= zero && code < zero + 10;

const quote = 34;

const backslash = 92;

const space = 32;

const zero = 48;

const maxDigits = 15;

/** Deltas are short; longer events are not repeated. */
const maxChars = 2_048;
/** After this many events that do not match the template, no new template is made. */
const maxMisses = 8;

/**
 * Reads the events of one answer. Most differ from the previous one only in a text and a number; comparing them with it
 * is faster than parsing. The returned object is valid until the next call, which may change it.
 */
export class EventParser {
  #template: EventTemplate | undefined;
  #misses = 0;

  read(data: string): Record<string, unknown> {
    if (this.#template !== undefined && matchesTemplate(data, this.#template)) {
      this.#misses = 0;
      return fillTemplate(this.#template);
    }
    const value = eventJson(data);
    if (data.length > maxChars || this.#misses > maxMisses || !isDelta(value)) return value;
    const template = createTemplate(data, value);
    if (template === undefined) return value;
    this.#template = template;
    this.#misses += 1;
    return value;
  }
}

/** Other events may be stored by the decoder, which must not see their fields change. Chat events have no type. */
function isDelta({ type }: Record<string, unknown>): boolean {
  return typeof type !== "string" || type.endsWith("delta");
}

interface Hole {
  readonly parent: Record<string, unknown>;
  readonly key: string;
  readonly kind: "text" | "count";
}

/** A parsed event as a template: its text without the holes. One hole follows each piece except the last. */
interface EventTemplate {
  readonly value: Record<string, unknown>;
  readonly pieces: readonly string[];
  readonly holes: readonly Hole[];
  /** The values that a new event has in the holes. They are used only once the whole event has matched. */
  readonly found: (string | number)[];
}

/** Every piece must be in its place, so that a matching event is JSON of the same shape. */
function matchesTemplate(data: string, { pieces, holes, found }: EventTemplate): boolean {
  let position = 0;
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index] ?? "";
    // `startsWith` compares character by character, which takes as long as parsing.
    if (data.slice(position, position + piece.length) !== piece) return false;
    position += piece.length;
    const hole = holes[index];
    if (hole === undefined) return position === data.length;
    const end = hole.kind === "text" ? endOfText(data, position) : endOfCount(data, position);
    if (end === -1) return false;
    const inside = data.slice(position, end);
    found[index] = hole.kind === "text" ? inside : Number(inside);
    position = end;
  }
  return false;
}

function fillTemplate({ value, holes, found }: EventTemplate): Record<string, unknown> {
  for (let index = 0; index < holes.length; index += 1) {
    const hole = holes[index];
    const inside = found[index];
    if (hole !== undefined) hole.parent[hole.key] = typeof inside === "string" ? copied(inside) : inside;
  }
  return value;
}

/** A substring keeps its original string in memory, so that a delta would keep everything that arrived with it. */
function copied(text: string): string {
  return text.length > maxCopiedChars ? ` ${text}`.slice(1) : text;
}

/** The offset of the quote that ends a text without escapes; -1 if there is none. */
function endOfText(data: string, start: number): number {
  for (let index = start; index < data.length; index += 1) {
    const code = data.charCodeAt(index);
    if (code === quote) return index;
    if (code === backslash || code < space) return -1;
  }
  return -1;
}

/** The offset where the digits end; -1 if they are not a valid JSON count. */
function endOfCount(data: string, start: number): number {
  let end = start;
  while (isDigit(data.charCodeAt(end))) end += 1;
  const length = end - start;
  if (length === 0 || length > maxDigits) return -1;
  return length > 1 && data.charCodeAt(start) === zero ? -1 : end;
}

/** Undefined if the position of a hole is ambiguous. */
function createTemplate(data: string, value: Record<string, unknown>): EventTemplate | undefined {
  const holes = holesIn(value, 0);
  const places = holes.flatMap((hole) => {
    const place = placeOf(data, hole);
    return place === undefined ? [] : [{ hole, ...place }];
  });
  if (holes.length === 0 || places.length < holes.length) return undefined;
  places.sort((a, b) => a.start - b.start);
  const ends = [0, ...places.map(({ end }) => end)];
  const pieces = ends.map((end, index) => copied(data.slice(end, places[index]?.start)));
  // A name that contains an escape would not be found.
  if (pieces.some((piece) => piece.includes("\\"))) return undefined;
  return { value, pieces, holes: places.map(({ hole }) => hole), found: places.map(() => 0) };
}

function holesIn(value: unknown, depth: number): Hole[] {
  if (depth > maxDepth || typeof value !== "object" || value === null) return [];
  if (!isRecord(value)) return Object.values(value).flatMap((part) => holesIn(part, depth + 1));
  return Object.entries(value).flatMap(([key, part]): Hole[] => {
    if (!varying.has(key) || typeof part === "object") return holesIn(part, depth + 1);
    if (typeof part === "string") return [{ parent: value, key, kind: "text" }];
    return typeof part === "number" ? [{ parent: value, key, kind: "count" }] : [];
  });
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * The range of a hole's value. Undefined unless its name occurs exactly once, because it could also be part of a text.
 */
function placeOf(data: string, { parent, key, kind }: Hole): Place | undefined {
  const name = `"${key}"`;
  const at = data.indexOf(name);
  if (at === -1 || data.indexOf(name, at + 1) !== -1) return undefined;
  const colon = skipSpaces(data, at + name.length);
  const value = skipSpaces(data, colon + 1);
  if (data[colon] !== ":" || (kind === "text" && data[value] !== '"')) return undefined;
  const start = kind === "text" ? value + 1 : value;
  const end = kind === "text" ? endOfText(data, start) : endOfCount(data, start);
  return end !== -1 && data.slice(start, end) === String(parent[key]) ? { start, end } : undefined;
}

function skipSpaces(data: string, start: number): number {
  let index = start;
  while (data.charCodeAt(index) === space) index += 1;
  return index;
}
