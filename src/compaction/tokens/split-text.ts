/** Number of characters before the limit that are searched for a seam. */
const window = 4096;

/** No encoding forms a token across these seams, so the counts of the parts add up to the count of the whole. */
const seams = /\p{L}(?= \p{L})|\n(?=\p{L})/gu;

/** Splits a text into parts of at most `maxChars` that can be counted separately; without a seam it cuts anywhere. */
export function splitText(text: string, maxChars: number): string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > maxChars) {
    const to = cutBefore(text, from, from + maxChars);
    parts.push(text.slice(from, to));
    from = to;
  }
  parts.push(text.slice(from));
  return parts;
}

function cutBefore(text: string, from: number, limit: number): number {
  const start = Math.max(from, limit - window);
  // Reads two characters past the limit, because a seam is recognized by what follows it.
  const ends = [...text.slice(start, limit + 2).matchAll(seams)].map((seam) => start + seam.index + seam[0].length);
  const end = ends.findLast((place) => place <= limit);
  return end ?? (isInsidePair(text, limit) ? limit - 1 : limit);
}

function isInsidePair(text: string, place: number): boolean {
  return (text.codePointAt(place - 1) ?? 0) > 0xffff;
}
