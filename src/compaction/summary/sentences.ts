const border = /(?<=[.!?])\s+|\n+/;
const maxTextChars = 20_000;

/**
 * Splits a text into sentences, each on one line. Only the first `maxTextChars` are read, because users paste huge
 * texts.
 */
export function sentencesOf(text: string): string[] {
  return text
    .slice(0, maxTextChars)
    .split(border)
    .map((sentence) => sentence.replace(/^[-*>\s]+/, "").trim())
    .filter((sentence) => sentence !== "");
}

/** Puts a text on one line and shortens it to `maxChars`. */
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
