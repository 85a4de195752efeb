import { isFoldedPaste, type TextBuffer } from "./text-buffer.js";

type CharacterKind = "space" | "word" | "other";

/** A folded paste is a word. */
export function kindOf(character: string): CharacterKind {
  if (/^\s/.test(character)) return "space";
  return /^[\p{L}\p{N}\p{M}_]/u.test(character) || isFoldedPaste(character) ? "word" : "other";
}

/** The end of the word at or after a place, as Alt-F moves. */
export function wordEnd(buffer: TextBuffer, place: number): number {
  const start = skip(buffer, place, (kind) => kind !== "word");
  return skip(buffer, start, (kind) => kind === "word");
}

/** The start of the word before a place, as Alt-B moves. */
export function wordStart(buffer: TextBuffer, place: number): number {
  const end = skipBack(buffer, place, (kind) => kind !== "word");
  return skipBack(buffer, end, (kind) => kind === "word");
}

/** The same between spaces, as Ctrl-W removes. */
export function spacedWordStart(buffer: TextBuffer, place: number): number {
  const end = skipBack(buffer, place, (kind) => kind === "space");
  return skipBack(buffer, end, (kind) => kind !== "space");
}

/** The first place at or after `place` whose character does not match. */
export function skip(buffer: TextBuffer, place: number, matches: (kind: CharacterKind) => boolean): number {
  let at = place;
  while (at < buffer.text.length && matches(kindOf(buffer.at(at)))) at = buffer.after(at);
  return at;
}

/** The first place at or before `place` such that the character before it does not match. */
function skipBack(buffer: TextBuffer, place: number, matches: (kind: CharacterKind) => boolean): number {
  let at = place;
  while (at > 0 && matches(kindOf(buffer.at(buffer.before(at))))) at = buffer.before(at);
  return at;
}
