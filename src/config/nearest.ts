/** What somebody may have meant: the same letters written otherwise, or all but one or two of them in their places. */
export function nearest(text: string, known: readonly string[]): string | undefined {
  const same = known.find((name) => bare(name) === bare(text));
  if (same !== undefined) return same;
  const allowed = text.length < 5 ? Math.floor(text.length / 3) : 2;
  const [best] = known
    .map((name) => ({ name, distance: distance(bare(name), bare(text)) }))
    .filter((candidate) => candidate.distance <= allowed)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.name;
}

function bare(text: string): string {
  return text.replaceAll(/[-_ ]/g, "").toLowerCase();
}

const maxChars = 100;

/** How many letters must be put in, taken out or exchanged. */
function distance(one: string, other: string): number {
  if (Math.max(one.length, other.length) > maxChars) return Infinity;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of one.split("").entries()) {
    const next = [index + 1];
    for (const [place, otherLetter] of other.split("").entries()) {
      const exchanged = (row[place] ?? 0) + (letter === otherLetter ? 0 : 1);
      next.push(Math.min(exchanged, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
