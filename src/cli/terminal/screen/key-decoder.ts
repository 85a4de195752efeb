import { StringDecoder } from "node:string_decoder";
import type { Key } from "./key.js";
import { characterKey, consoleKey, csiMeaning, oscReport, plainKey, type Report, ss3Key } from "./key-sequences.js";

export type Decoded = Key | Report;

/** The most characters of one paste. */
export const maxPasteChars = 5_000_000;

const escape = "\u001b";
const pasteStart = "[200~";
const pasteEnd = "\u001b[201~";
const bell = "\u0007";
const interrupts = new Set(["\u0003", "\u001b[99;5u"]);

/** After this silence, ESC was the Escape key and not the start of a sequence. */
const escapeMs = 50;
/** After this silence, two characters were Alt with a key, and what follows the Escape key is not the rest of its sequence. */
const sequenceMs = 500;
/** After this silence, the rest of a sequence was lost: slow connections send it after seconds. */
const restMs = 3_000;
/** After this silence, a paste may have lost its end, and Ctrl-C ends it. */
const pasteMs = 2_000;
const maxSequence = 256;
/** Answers with text in them. */
const maxString = 65_536;

/** A key, report or answer without its ESC, alone or before others: nobody types these within a moment. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const wholeRest = /^\[(?:[<=>?]?[\d;:]+[A-Za-z~]|[A-DFHIOZ])(?:\u001b|$)|^\[200~|^\]\d+;/;
const startedRest = /^(?:\[[<=>?]?[\d;:]*|\]\d*)$/;

/** A sequence at the start of the buffer: how long it is and what it means. */
interface Sequence {
  readonly length: number;
  readonly meaning: readonly Decoded[];
  readonly startsPaste?: boolean;
}

/**
 * Turns the bytes of a terminal into keys and reports. The result does not depend on how the bytes were cut, as long
 * as `flush` is not called in between. It has no timer: the caller calls `flush` after `waitMs` of silence.
 */
export class KeyDecoder {
  readonly #utf8 = new StringDecoder("utf8");
  #buffer = "";
  #paste: PasteText | undefined;
  #isPasteStale = false;
  #isKitty = false;
  /** The Escape key was reported, and what comes now may be the rest of a sequence that began with its ESC. */
  #isAfterEscape = false;
  /** Answers of the terminal are on their way, so that ESC alone is rather the start of one than the Escape key. */
  expectsAnswers = false;

  push(bytes: Uint8Array): Decoded[] {
    const text = this.#utf8.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    const found: Decoded[] = [];
    if (this.#isPasteStale && interrupts.has(text)) found.push(...this.#endPaste());
    this.#isPasteStale = false;
    this.#buffer += text;
    if (this.#isAfterEscape && !this.#addLateRest()) return found;
    while (this.#buffer !== "" && this.#step(found));
    for (const item of found) if (item.type === "kitty_keys") this.#isKitty = item.flags > 0;
    return found;
  }

  /** The silence after which `flush` is due; undefined if nothing is pending. */
  get waitMs(): number | undefined {
    if (this.#paste !== undefined) return this.#isPasteStale ? undefined : pasteMs;
    if (this.#isAfterEscape) return sequenceMs;
    if (this.#buffer === "") return undefined;
    const isEscape = this.#buffer === escape || this.#buffer === escape + escape;
    // With kitty's protocol the Escape key has a sequence of its own.
    if (isEscape) return this.#isKitty || this.expectsAnswers ? sequenceMs : escapeMs;
    return this.#buffer.length === 2 ? sequenceMs : restMs;
  }

  /** Decides about an unfinished sequence. */
  flush(): Decoded[] {
    if (this.#paste !== undefined) {
      this.#isPasteStale = true;
      return [];
    }
    const pending = this.#buffer;
    this.#buffer = "";
    if (this.#isAfterEscape) {
      this.#isAfterEscape = false;
      return Array.from(pending, (character) => characterKey(character));
    }
    if (pending === escape || pending === escape + escape) {
      this.#isAfterEscape = true;
      return Array.from(pending, () => plainKey("escape"));
    }
    return pending.length === 2 ? [characterKey(pending.slice(1), true)] : [];
  }

  /**
   * Gives what comes right after the Escape key its ESC back if it is the rest of a sequence: then it is no text. False
   * if more is needed to know that.
   */
  #addLateRest(): boolean {
    if (startedRest.test(this.#buffer)) return false;
    this.#isAfterEscape = false;
    if (wholeRest.test(this.#buffer)) this.#buffer = escape + this.#buffer;
    return true;
  }

  /** Takes one thing from the buffer; false if the rest of it has not arrived. */
  #step(found: Decoded[]): boolean {
    if (this.#paste !== undefined) return this.#continuePaste(this.#paste, found);
    if (!this.#buffer.startsWith(escape)) {
      const end = this.#buffer.indexOf(escape);
      const plain = end === -1 ? this.#buffer : this.#buffer.slice(0, end);
      for (const character of plain) found.push(characterKey(character));
      this.#buffer = this.#buffer.slice(plain.length);
      return true;
    }
    const sequence = sequenceIn(this.#buffer);
    if (sequence === undefined) return false;
    found.push(...sequence.meaning);
    if (sequence.startsPaste === true) this.#paste = new PasteText();
    this.#buffer = this.#buffer.slice(sequence.length);
    return true;
  }

  #continuePaste(paste: PasteText, found: Decoded[]): boolean {
    const end = this.#buffer.indexOf(pasteEnd);
    const length = end === -1 ? this.#buffer.length - startedEnd(this.#buffer) : end;
    paste.add(this.#buffer.slice(0, length));
    this.#buffer = this.#buffer.slice(end === -1 ? length : end + pasteEnd.length);
    if (end === -1) return false;
    found.push(...this.#endPaste());
    return true;
  }

  #endPaste(): Decoded[] {
    const paste = this.#paste;
    this.#paste = undefined;
    return paste === undefined ? [] : paste.taken();
  }
}

class PasteText {
  readonly #parts: string[] = [];
  #chars = 0;
  #isCut = false;

  add(text: string): void {
    const room = maxPasteChars - this.#chars;
    const kept = text.length <= room ? text : text.slice(0, room).replace(/[\ud800-\udbff]$/, "");
    this.#isCut ||= kept.length < text.length;
    // A shortened surrogate pair leaves room for one more character; nothing may follow a cut.
    this.#chars = this.#isCut ? maxPasteChars : this.#chars + kept.length;
    if (kept !== "") this.#parts.push(kept);
  }

  taken(): Decoded[] {
    const text = this.#parts.join("").replaceAll(/\r\n?/g, "\n");
    const paste: Decoded = { type: "paste", text };
    return this.#isCut ? [paste, { type: "paste_cut", keptChars: text.length }] : [paste];
  }
}

/** How many characters at the end of the text may be the start of the end mark. */
function startedEnd(text: string): number {
  for (let length = Math.min(pasteEnd.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(pasteEnd.slice(0, length))) return length;
  return 0;
}

/** The sequence that the text starts with; undefined if more of it is needed. */
function sequenceIn(text: string): Sequence | undefined {
  const next = text[1];
  switch (next) {
    case undefined:
      return undefined;
    case escape:
      return afterEscape(text);
    case "[":
      return controlSequence(text);
    case "O":
      return ss3Sequence(text);
    case "]":
    case "P":
    case "_":
    case "^":
    case "X":
      return stringSequence(text, next);
    default: {
      const character = String.fromCodePoint(text.codePointAt(1) ?? 0);
      return { length: 1 + character.length, meaning: [characterKey(character, true)] };
    }
  }
}

/** Two times ESC: Alt with a key that has a sequence, or the Escape key and what came after it. */
function afterEscape(text: string): Sequence | undefined {
  // A third ESC: the first one was a key.
  if (text[2] === escape) return { length: 1, meaning: [plainKey("escape")] };
  const inner = sequenceIn(text.slice(1));
  if (inner === undefined) return undefined;
  const [only] = inner.meaning;
  const isKey = only?.type === "key" && !only.alt;
  if (!isKey) return { length: 1, meaning: [plainKey("escape")] };
  return { length: 1 + inner.length, meaning: [{ ...only, alt: true }] };
}

function controlSequence(text: string): Sequence | undefined {
  if (text[2] === "[") return text[3] === undefined ? undefined : known(4, consoleKey(text[3]));
  if (text.startsWith(pasteStart, 1)) return { length: 1 + pasteStart.length, meaning: [], startsPaste: true };
  for (let index = 2; index < text.length; index += 1) {
    const character = text[index] ?? "";
    const parameters = text.slice(2, index);
    const isFinal = character >= "@" && character <= "~";
    // rxvt marks Shift with a dollar sign where others have the final character.
    if (isFinal || (character === "$" && /^\d+$/.test(parameters)))
      return known(index + 1, csiMeaning(parameters, character));
    // Not a sequence after all: what follows is decoded by itself.
    if (character < " " || character > "~" || index > maxSequence) return { length: index, meaning: [] };
  }
  return undefined;
}

function ss3Sequence(text: string): Sequence | undefined {
  const match = /^\d?/.exec(text.slice(2, 3));
  const modifiers = match?.[0] ?? "";
  const final = text[2 + modifiers.length];
  if (final === undefined) return undefined;
  if (final < "A" || final > "y") return { length: 2, meaning: [characterKey("O", true)] };
  return known(3 + modifiers.length, ss3Key(modifiers, final));
}

/** OSC, DCS and their like: up to ST, or BEL for OSC. */
function stringSequence(text: string, kind: string): Sequence | undefined {
  for (let index = 2; index < text.length; index += 1) {
    const character = text[index];
    if (index > maxString) return { length: index, meaning: [] };
    if (character === bell && kind === "]") return known(index + 1, oscReport(text.slice(2, index)));
    // No answer contains a control character: the rest of it was lost, and keys follow.
    if (character !== undefined && character < " " && character !== escape) return { length: index, meaning: [] };
    if (character !== escape) continue;
    const next = text[index + 1];
    if (next === undefined) return undefined;
    if (next !== "\\") return { length: index, meaning: [] };
    return known(index + 2, kind === "]" ? oscReport(text.slice(2, index)) : undefined);
  }
  return undefined;
}

function known(length: number, meaning: Decoded | undefined): Sequence {
  return { length, meaning: meaning === undefined ? [] : [meaning] };
}
