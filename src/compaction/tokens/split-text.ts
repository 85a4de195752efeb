/** How far back from the limit a place for a cut is looked for. */
const window = 4096;

/** Between these no encoding makes one word, so counts of the parts add up to the count of the whole. */
const seams = /\p{L}(?= \p{L})|\n(?=\p{L})/gu;

/** A text in parts of at most so many characters that can be counted apart; without a seam it is cut anywhere. */
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
  // Two characters more than the limit, because a seam is known by what follows it.
  const ends = [...text.slice(start, limit + 2).matchAll(seams)].map((seam) => start + seam.index + seam[0].length);
  const end = ends.findLast((place) => place <= limit);
  return end ?? (isInsidePair(text, limit) ? limit - 1 : limit);
}

function isInsidePair(text: string, place: number): boolean {
  return (text.codePointAt(place - 1) ?? 0) > 0xffff;
}
