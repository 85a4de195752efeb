const border = /(?<=[.!?])\s+|\n+/;
const maxTextChars = 20_000;

/** The sentences of a text, each on its own line; what is pasted into a text without end is not looked through. */
export function sentencesOf(text: string): string[] {
  return text
    .slice(0, maxTextChars)
    .split(border)
    .map((sentence) => sentence.replace(/^[-*>\s]+/, "").trim())
    .filter((sentence) => sentence !== "");
}

/** A text on one line and no longer than this. */
export function shortened(text: string, maxChars: number): string {
  const line = text
    .slice(0, 2 * maxChars)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxChars
    ? `${line
        .slice(0, maxChars - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`
    : line;
}
