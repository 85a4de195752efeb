/**
 * What a reader cannot see, takes for a space, or that moves what stands around it. Marks are seen as long as they
 * sit on a letter and do not pile up.
 */
const unseen = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]|\p{M}(?<!\p{L}\p{M}{1,3})/gu;
const named: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/** A text on one line, with escapes for what could not be seen otherwise. */
export function visible(text: string): string {
  return text.replaceAll(unseen, escapeOf);
}

export function isVisible(text: string): boolean {
  return text.search(unseen) === -1;
}

/** The bytes in octal, which every shell reads alike: `\u` depends on the locale, and `\x` may take more digits. */
function escapeOf(character: string): string {
  const bytes = [...Buffer.from(character)];
  return named[character] ?? bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
