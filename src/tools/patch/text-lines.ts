/** A line of a file and what ends it: the last one may have no end. */
export interface TextLine {
  readonly text: string;
  readonly end: "" | "\n" | "\r\n";
}

export function textLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  while (start < text.length) {
    const at = text.indexOf("\n", start);
    if (at === -1) {
      lines.push({ text: text.slice(start), end: "" });
      break;
    }
    const isPair = at > start && text[at - 1] === "\r";
    lines.push({ text: text.slice(start, isPair ? at - 1 : at), end: isPair ? "\r\n" : "\n" });
    start = at + 1;
  }
  return lines;
}

export function joinedLines(lines: readonly TextLine[]): string {
  return lines.map(({ text, end }) => text + end).join("");
}
