const lastC0 = 0x1f;
const del = 0x7f;
const pictures = 0x2400;
const replacement = "\u{fffd}";

/**
 * C0 except tab and newline, DEL, C1, and the characters that change the writing direction of the surrounding text.
 * Carriage return is included because it would let a line overwrite itself.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces control characters, so that a terminal shows the text and does not interpret it. Works character by
 * character, so that the result does not depend on how a stream was cut into pieces.
 */
export function harmless(text: string): string {
  return text.replaceAll(controlCharacters, escapedCharacter);
}

function escapedCharacter(character: string): string {
  if (character === "\r") return "";
  const code = character.charCodeAt(0);
  if (code <= lastC0) return String.fromCharCode(pictures + code);
  return code === del ? "\u2421" : replacement;
}
