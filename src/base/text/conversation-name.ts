import { InvalidInputError } from "../errors.js";

// Separate from the schemas, so that listing conversations reads names without loading the schema library.

const maxNameChars = 100;
/** No name is made from more characters than this. */
const maxReadChars = 1_000;
/** Control characters, lone surrogates, and characters that break a line or change the writing direction. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Returns the name without surrounding blanks, or throws if it is not valid. */
export function conversationName(text: string): string {
  const name = text.trim();
  const chars = Array.from(name).length;
  if (chars > 0 && chars <= maxNameChars && isPrintable(name)) return name;
  throw new InvalidInputError(`a name must have 1 to ${maxNameChars} printable characters`);
}

/** Turns any text into a valid name; undefined if it has no printable characters. */
export function shortName(text: string): string | undefined {
  const printable = Array.from(text.slice(0, maxReadChars), (char) => (isPrintable(char) ? char : " ")).join("");
  const chars = Array.from(printable.replaceAll(/\s+/g, " ").trim());
  const name = chars.length > maxNameChars ? `${chars.slice(0, maxNameChars - 1).join("")}…` : chars.join("");
  return name === "" ? undefined : name;
}

export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}
