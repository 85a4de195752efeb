/** So many places of a text are shown; more would be too short to be understood. */
const maxPlaces = 3;
const gap = " […] ";

/** The words of a query in lower case, each once, without what stands around them in a sentence. */
export function wordsOf(query: string): string[] {
  const words = query.toLowerCase().split(/\s+/);
  return [...new Set(words.map((word) => word.replace(outer, "")))].filter((word) => word !== "");
}

const outer = /^[^\p{L}\p{N}_/.$@#-]+|[^\p{L}\p{N}_/]+$/gu;

/** At most so many characters of a text that has some of the words, from around the first places where they are. */
export function excerptAround(text: string, words: readonly string[], maxChars: number): string {
  if (text.length <= maxChars) return text;
  const places = placesOf(text, words, Math.floor(maxChars / maxPlaces));
  const each = Math.floor(maxChars / places.length) - gap.length * 2;
  const ranges = rangesAround(places, each, text.length);
  const pieces = ranges.map(({ from, to }) => text.slice(from, to).toWellFormed());
  if (ranges[0]?.from !== 0) pieces.unshift("");
  if (ranges.at(-1)?.to !== text.length) pieces.push("");
  return pieces.join(gap).trim();
}

/** Where the words are for the first time; those that are seen together count as one. */
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

/** A third of each stands before its place: what follows mostly says more. */
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
