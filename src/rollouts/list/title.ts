const maxChars = 80;
/** Characters examined: enough for `maxChars` code points of any kind, because a message may have millions. */
const maxExaminedChars = 4 * maxChars;

/** Returns the first line of a text, shortened for a list; undefined when the text is blank. */
export function titleOf(text: string): string | undefined {
  const line =
    text
      .trimStart()
      .slice(0, maxExaminedChars)
      .split(/[\r\n]/, 1)[0]
      ?.trimEnd() ?? "";
  if (line === "") return undefined;
  const chars = Array.from(line);
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join("")}…`;
}
