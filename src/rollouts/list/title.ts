const maxChars = 80;
/** Enough for so many characters, whatever they are made of; a message may have millions. */
const lookedAt = 4 * maxChars;

/** The first line of what somebody said, cut to what a list has room for; undefined when there are no words. */
export function titleOf(text: string): string | undefined {
  const line =
    text
      .trimStart()
      .slice(0, lookedAt)
      .split(/[\r\n]/, 1)[0]
      ?.trimEnd() ?? "";
  if (line === "") return undefined;
  const chars = Array.from(line);
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join("")}…`;
}
