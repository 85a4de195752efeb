import { isRecord } from "../../base/is-record.js";

/** What differs from one delta to the next, by the names the wire APIs have for it. */
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
/** Shorter strings are copied when they are cut out of another. */
const maxCopiedChars = 12;

interface Hole {
  readonly parent: Record<string, unknown>;
  readonly key: string;
  readonly kind: "text" | "count";
}

/** An event that was parsed: its text but for the holes, of which there is one behind each piece but the last. */
export interface Mold {
  readonly value: Record<string, unknown>;
  readonly pieces: readonly string[];
  readonly holes: readonly Hole[];
  /** What a new event has in the holes, until it is known to be alike as a whole. */
  readonly found: (string | number)[];
}

/** Every piece stands where it did, so that what fits is JSON of the same shape. */
export function fits(data: string, { pieces, holes, found }: Mold): boolean {
  let position = 0;
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index] ?? "";
    // `startsWith` would compare letter by letter, and take as long as to parse.
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

export function filled({ value, holes, found }: Mold): Record<string, unknown> {
  for (let index = 0; index < holes.length; index += 1) {
    const hole = holes[index];
    const inside = found[index];
    if (hole !== undefined) hole.parent[hole.key] = typeof inside === "string" ? copied(inside) : inside;
  }
  return value;
}

/** A string that was cut out of another keeps the other in memory: a delta would keep all that came with it. */
function copied(text: string): string {
  return text.length > maxCopiedChars ? ` ${text}`.slice(1) : text;
}

/** The quote that ends a text without escapes; -1 when there is none. */
function endOfText(data: string, start: number): number {
  for (let index = start; index < data.length; index += 1) {
    const code = data.charCodeAt(index);
    if (code === quote) return index;
    if (code === backslash || code < space) return -1;
  }
  return -1;
}

/** Where the digits end; -1 when they are no count as JSON has it. */
function endOfCount(data: string, start: number): number {
  let end = start;
  while (isDigit(data.charCodeAt(end))) end += 1;
  const length = end - start;
  if (length === 0 || length > maxDigits) return -1;
  return length > 1 && data.charCodeAt(start) === zero ? -1 : end;
}

/** Undefined when it is not sure where the holes are. */
export function moldOf(data: string, value: Record<string, unknown>): Mold | undefined {
  const holes = holesIn(value, 0);
  const places = holes.flatMap((hole) => {
    const place = placeOf(data, hole);
    return place === undefined ? [] : [{ hole, ...place }];
  });
  if (holes.length === 0 || places.length < holes.length) return undefined;
  places.sort((a, b) => a.start - b.start);
  const ends = [0, ...places.map(({ end }) => end)];
  const pieces = ends.map((end, index) => copied(data.slice(end, places[index]?.start)));
  // A name with an escape in it is not found as what it is.
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

/** Where the value of a hole stands. Undefined unless its name stands once: it could be the name of something else. */
function placeOf(data: string, { parent, key, kind }: Hole): Place | undefined {
  const name = `"${key}"`;
  const at = data.indexOf(name);
  if (at === -1 || data.indexOf(name, at + 1) !== -1) return undefined;
  const colon = behindSpaces(data, at + name.length);
  const value = behindSpaces(data, colon + 1);
  if (data[colon] !== ":" || (kind === "text" && data[value] !== '"')) return undefined;
  const start = kind === "text" ? value + 1 : value;
  const end = kind === "text" ? endOfText(data, start) : endOfCount(data, start);
  return end !== -1 && data.slice(start, end) === String(parent[key]) ? { start, end } : undefined;
}

function behindSpaces(data: string, start: number): number {
  let index = start;
  while (data.charCodeAt(index) === space) index += 1;
  return index;
}

const isDigit = (code: number): boolean => code >= zero && code < zero + 10;
const quote = 34;
const backslash = 92;
const space = 32;
const zero = 48;
const maxDigits = 15;
