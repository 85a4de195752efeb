/** Longer runs make every known tokenizer quadratic: a hundred thousand spaces would take seconds. */
export const maxRun = 256;

/**
 * What an encoding may take as one word. Digits are not here, it takes at most three of them; marks are with letters in
 * one encoding and with signs in another, hence in both.
 */
const kinds = [/[\p{L}\p{M}]+/uy, /\s+/uy, /[^\s\p{L}\p{N}]+/uy];

/** The text in pieces without a longer run of one kind of character; in ordinary text that is one piece. */
export function cutRuns(text: string): string[] {
  const cuts = new Set(kinds.flatMap((kind) => cutsOf(text, kind)));
  if (cuts.size === 0) return [text];
  const ends = [...cuts, text.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

/** A run that is too long covers one of every `maxRun` places, so nothing else needs to be looked at. */
function cutsOf(text: string, kind: RegExp): number[] {
  const cuts: number[] = [];
  let place = 0;
  while (place < text.length) {
    const { from, to } = runAround(text, place, kind);
    let end = from;
    // Counted in characters, so that no surrogate pair is parted.
    for (const [piece] of to - from > maxRun ? text.slice(from, to).matchAll(pieces) : []) {
      end += piece.length;
      if (end < to) cuts.push(end);
    }
    place += maxRun * Math.max(1, Math.ceil((to - place) / maxRun));
  }
  return cuts;
}

const pieces = new RegExp(`[^]{1,${maxRun}}`, "gu");

/** Empty when the character there is of another kind. */
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

/** Where the character begins that stands at a place, which may be its second half. */
function startOf(text: string, place: number): number {
  return place > 0 && (text.codePointAt(place - 1) ?? 0) > 0xffff ? place - 1 : place;
}
