/**
 * Characters that are invisible, look like a space, or move the surrounding text. Combining marks count as visible
 * while they follow a letter, at most three in a row.
 */
const invisible = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}(?<!\p{L}\p{M}{1,3})/gu;
const named: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/** A text on one line, with escapes for invisible characters. */
export function visible(text: string): string {
  return text.replaceAll(invisible, escapeOf);
}

export function isVisible(text: string): boolean {
  return text.search(invisible) === -1;
}

/** Escapes the bytes in octal, which all shells read alike: `\u` depends on the locale, `\x` may take more digits. */
function escapeOf(character: string): string {
  const bytes = [...Buffer.from(character)];
  return named[character] ?? bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
