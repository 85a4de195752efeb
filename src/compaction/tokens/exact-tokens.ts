import { readFile } from "node:fs/promises";
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { builtFile } from "../../base/fs/built-file.js";
import { BytePairs } from "./byte-pairs.js";
import type { Encoding } from "./estimate-tokens.js";

/** Longer runs make every known tokenizer quadratic: a hundred thousand spaces would take seconds. */
export const maxRun = 256;

/**
 * Character runs that an encoding may treat as one word. Digits are missing because encodings group at most three of
 * them. Marks are in two classes because one encoding groups them with letters and another with symbols.
 */
const kinds = [/[\p{L}\p{M}]+/uy, /\s+/uy, /[^\s\p{L}\p{N}]+/uy];

const runParts = new RegExp(`[^]{1,${maxRun}}`, "gu");

/** How an encoding splits a text before it encodes the pieces. */
const pieceOf = { cl100k_base: CL100K_TOKEN_SPLIT_REGEX, o200k_base: O200K_TOKEN_SPLIT_REGEX } satisfies Record<
  Encoding,
  RegExp
>;

const loaded = new Map<Encoding, BytePairs>();

/** Counts the tokens of texts exactly, except that runs longer than `maxRun` are counted in pieces. */
export async function exactTokens(texts: readonly string[], encoding: Encoding): Promise<number[]> {
  const encoder = loaded.get(encoding) ?? (await load(encoding));
  loaded.set(encoding, encoder);
  return texts.map((text) => cutRuns(text).reduce((sum, piece) => sum + encoder.count(piece), 0));
}

/** Takes 10 ms and 4 MB, so only worker threads do it. */
async function load(encoding: Encoding): Promise<BytePairs> {
  return new BytePairs(await readFile(builtFile(`encodings/${encoding}.bin`)), pieceOf[encoding]);
}

/** Splits a text so that no piece has a run of one character kind longer than `maxRun`; ordinary text is one piece. */
export function cutRuns(text: string): string[] {
  const cuts = new Set(kinds.flatMap((kind) => cutsOf(text, kind)));
  if (cuts.size === 0) return [text];
  const ends = [...cuts, text.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

/** Probes only every `maxRun`th place, because a run that is too long must cover one of them. */
function cutsOf(text: string, kind: RegExp): number[] {
  const cuts: number[] = [];
  let place = 0;
  while (place < text.length) {
    const { from, to } = runAround(text, place, kind);
    let end = from;
    // Counts code points, so that no surrogate pair is split.
    for (const [piece] of to - from > maxRun ? text.slice(from, to).matchAll(runParts) : []) {
      end += piece.length;
      if (end < to) cuts.push(end);
    }
    place += maxRun * Math.max(1, Math.ceil((to - place) / maxRun));
  }
  return cuts;
}

/** Returns the run of this kind around a place; empty when the character there is of another kind. */
function runAround(text: string, place: number, kind: RegExp): { from: number; to: number } {
  let from = startOf(text, place);
  const to = endOfRun(text, from, kind);
  if (to === from) return { from, to };
  for (;;) {
    const before = startOf(text, from - 1);
    if (before < 0 || !isOf(kind, text.slice(before, from))) return { from, to };
    from = before;
  }
}

function endOfRun(text: string, from: number, kind: RegExp): number {
  kind.lastIndex = from;
  return kind.test(text) ? kind.lastIndex : from;
}

function isOf(kind: RegExp, character: string): boolean {
  kind.lastIndex = 0;
  return kind.test(character);
}

/** Returns the start of the character at a place, which may be the second half of a surrogate pair. */
function startOf(text: string, place: number): number {
  return place > 0 && (text.codePointAt(place - 1) ?? 0) > 0xffff ? place - 1 : place;
}
