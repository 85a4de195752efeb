const tabCells = 8;

/** As many cells of a terminal as a character may take: terminals do not agree about what is not ASCII. */
export function cellsOf(code: number): number {
  if (code >= 0x20 && code < 0x7f) return 1;
  if (code === 0x09) return tabCells;
  const isSecondOfPair = code >= 0xdc00 && code < 0xe000;
  return isSecondOfPair ? 0 : 2;
}

/** A text that takes at most so many cells, and a sign where it goes on; no character is cut in two. */
export function fitted(text: string, maxCells: number): string {
  let cells = 0;
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    cells += cellsOf(text.charCodeAt(at));
    if (cells > maxCells) return maxCells < signCells ? "" : `${text.slice(0, end)}…`;
    if (cells <= maxCells - signCells) end = at + 1;
  }
  return text;
}

const signCells = 2;
