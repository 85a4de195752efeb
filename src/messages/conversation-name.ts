import { InvalidInputError } from "../base/errors.js";

// Kept apart from the schemas: a list reads names without loading a schema library.

const maxNameChars = 100;
/** Nobody's name is made of more than this. */
const maxReadChars = 1_000;
/** Controls, halves of characters, and what breaks a line or changes the direction of what stands around it. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** A name as it is kept. */
export function conversationName(text: string): string {
  const name = text.trim();
  const chars = Array.from(name).length;
  if (chars > 0 && chars <= maxNameChars && isPrintable(name)) return name;
  throw new InvalidInputError(`a name has 1 to ${maxNameChars} printable characters`);
}

/** What comes nearest to a text that may not do as a name; nothing when there is nothing printable in it. */
export function shortName(text: string): string | undefined {
  const printable = Array.from(text.slice(0, maxReadChars), (char) => (isPrintable(char) ? char : " ")).join("");
  const chars = Array.from(printable.replaceAll(/\s+/g, " ").trim());
  const name = chars.length > maxNameChars ? `${chars.slice(0, maxNameChars - 1).join("")}…` : chars.join("");
  return name === "" ? undefined : name;
}

export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}
