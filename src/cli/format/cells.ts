const tabCells = 8;

/** The most cells a UTF-16 unit may take: terminals disagree about the width of characters outside ASCII. */
export function cellsOf(code: number): number {
  if (code >= 0x20 && code < 0x7f) return 1;
  if (code === 0x09) return tabCells;
  const isSecondOfPair = code >= 0xdc00 && code < 0xe000;
  return isSecondOfPair ? 0 : 2;
}

/** Cuts a text to at most `maxCells` cells and appends `…`. Never splits a surrogate pair. */
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
