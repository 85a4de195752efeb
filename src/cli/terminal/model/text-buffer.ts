import { counted } from "../../../base/text/counted.js";
import { maxInputChars } from "../../../messages/user-input.js";
import { graphemesOf } from "../screen/cells.js";

/** A paste beyond one of these bounds is folded. */
const [maxPasteLines, maxPasteChars] = [10, 1_000];
const maxUndoSteps = 500;
const maxUndoChars = 10_000_000;
const maxFoldedChars = 50_000_000;

// oxlint-disable-next-line no-control-regex -- all of ASCII
const ascii = /^[\u0000-\u007f]*$/;

/**
 * A folded paste is one character of the text: a surrogate without its pair, which nothing that is inserted can
 * contain.
 */
const foldedPaste = /[\udc00-\udfff]/u;
const foldedPastes = /([\udc00-\udfff])/u;
const [firstFolded, lastFolded] = [0xdc_00, 0xdf_ff];

interface Snapshot {
  readonly text: string;
  readonly cursor: number;
}

/** A line and where its characters begin; the last entry is its end. Undefined if each is one UTF-16 unit. */
interface Line {
  readonly start: number;
  readonly text: string;
  readonly boundaries: readonly number[] | undefined;
}

/**
 * The text of an editor, its cursor, and the steps that undo takes back. Offsets count UTF-16 units and are always
 * between two characters as people see them.
 */
export class TextBuffer {
  #text = "";
  #cursor = 0;
  readonly #pastes = new Map<string, string>();
  #undo: Snapshot[] = [];
  #redo: Snapshot[] = [];
  #group: string | undefined;
  /** While a joined step is open: whether it contains a change. */
  #joined: "empty" | "changed" | undefined;
  #isFull = false;
  #line: Line | undefined;

  /** Contains one character for each folded paste. */
  get text(): string {
    return this.#text;
  }

  get expandedText(): string {
    return this.expanded(this.#text);
  }

  get cursor(): number {
    return this.#cursor;
  }

  /** Moves the cursor, to the next boundary if it is inside a character. */
  moveTo(place: number): void {
    this.endStep();
    this.#cursor = this.#snapped(place);
  }

  /** The next change is an undo step of its own. */
  endStep(): void {
    this.#group = undefined;
  }

  /** All changes until `endJoinedStep` are one undo step, whatever happens in between. */
  startJoinedStep(): void {
    this.#joined = "empty";
  }

  endJoinedStep(): void {
    this.#joined = undefined;
    this.endStep();
  }

  /** A part of the text with its pastes in full. */
  expanded(text: string): string {
    if (this.#pastes.size === 0) return text;
    return text
      .split(foldedPastes)
      .map((part) => this.#pastes.get(part) ?? part)
      .join("");
  }

  /** How a character is shown if it is a folded paste. */
  foldedLabel(character: string): string | undefined {
    const paste = this.#pastes.get(character);
    if (paste === undefined) return undefined;
    const lines = lineCount(paste);
    return `[pasted ${lines > 1 ? counted(lines, "line") : counted(paste.length, "character")}]`;
  }

  /** Whether the last change was refused because the text would be longer than `maxInputChars`. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Inserts at the cursor. Steps of the same group are undone together as long as nothing happens in between. */
  insert(text: string, group?: string): void {
    this.replace(this.#cursor, this.#cursor, clean(text), group);
  }

  /** Inserts a paste, folded if it is large. */
  paste(text: string): void {
    const paste = clean(text);
    const isLarge = lineCount(paste) > maxPasteLines || paste.length > maxPasteChars;
    if (isLarge) this.replace(this.#cursor, this.#cursor, this.#folded(paste));
    else this.insert(paste);
  }

  /** Replaces a range with a text, which may come from this buffer, and puts the cursor behind it. */
  replace(start: number, end: number, text: string, group?: string): void {
    this.#isFull = false;
    if (start === end && text === "") return;
    const changed = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#isFull = text !== "" && this.#expandedLength(changed) > maxInputChars;
    if (this.#isFull) return;
    const isNewStep =
      this.#joined === undefined ? group === undefined || group !== this.#group : this.#joined === "empty";
    if (isNewStep) this.#remember();
    if (this.#joined !== undefined) this.#joined = "changed";
    this.#group = group;
    this.#redo = [];
    this.#text = changed;
    this.#cursor = this.#snapped(start + text.length);
  }

  /** Removes a range and returns it. */
  remove(start: number, end: number, group?: string): string {
    const removed = this.#text.slice(start, end);
    this.replace(start, end, "", group);
    return removed;
  }

  /** Replaces all of the text; undo brings it back. */
  setText(text: string): void {
    if (text !== this.expandedText) this.replace(0, this.#text.length, clean(text));
    this.moveTo(this.#text.length);
  }

  /** Returns the text with its pastes in full, and forgets it with all that undo would bring back. */
  take(): string {
    const text = this.expandedText;
    [this.#text, this.#cursor, this.#undo, this.#redo, this.#group] = ["", 0, [], [], undefined];
    this.#pastes.clear();
    return text;
  }

  undo(): boolean {
    return this.#restore(this.#undo, this.#redo);
  }

  redo(): boolean {
    return this.#restore(this.#redo, this.#undo);
  }

  /** The boundary before a place, or the start of the text. */
  before(place = this.#cursor): number {
    if (place <= 0) return 0;
    const line = this.#lineAt(place);
    if (place === line.start || line.boundaries === undefined) return place - 1;
    return line.boundaries.findLast((boundary) => boundary < place) ?? line.start;
  }

  /** The boundary after a place, or the end of the text. */
  after(place = this.#cursor): number {
    if (place >= this.#text.length) return this.#text.length;
    return this.#lineAt(place).boundaries?.find((boundary) => boundary > place) ?? place + 1;
  }

  /** The character at a place; empty at the end of the text. */
  at(place: number): string {
    return this.#text.slice(place, this.after(place));
  }

  lineStart(place = this.#cursor): number {
    return place === 0 ? 0 : this.#text.lastIndexOf("\n", place - 1) + 1;
  }

  lineEnd(place = this.#cursor): number {
    const end = this.#text.indexOf("\n", place);
    return end === -1 ? this.#text.length : end;
  }

  /** The character for a paste, or the paste itself if there are too many: undo and yank may need all of them. */
  #folded(paste: string): string {
    let chars = paste.length;
    for (const [folded, known] of this.#pastes) {
      if (known === paste) return folded;
      chars += known.length;
    }
    const code = firstFolded + this.#pastes.size;
    if (code > lastFolded || chars > maxFoldedChars) return paste;
    const folded = String.fromCharCode(code);
    this.#pastes.set(folded, paste);
    return folded;
  }

  #expandedLength(text: string): number {
    if (this.#pastes.size === 0) return text.length;
    return text.split(foldedPastes).reduce((sum, part) => sum + (this.#pastes.get(part) ?? part).length, 0);
  }

  #snapped(place: number): number {
    if (place <= 0) return 0;
    if (place >= this.#text.length) return this.#text.length;
    return this.#lineAt(place).boundaries?.find((boundary) => boundary >= place) ?? place;
  }

  #lineAt(place: number): Line {
    const start = this.lineStart(place);
    const text = this.#text.slice(start, this.lineEnd(place));
    if (this.#line?.start === start && this.#line.text === text) return this.#line;
    this.#line = { start, text, boundaries: boundariesOf(text, start) };
    return this.#line;
  }

  #remember(): void {
    this.#undo.push({ text: this.#text, cursor: this.#cursor });
    let chars = this.#undo.reduce((sum, { text }) => sum + text.length, 0);
    while (this.#undo.length > maxUndoSteps || (chars > maxUndoChars && this.#undo.length > 1))
      chars -= this.#undo.shift()?.text.length ?? 0;
  }

  #restore(from: Snapshot[], to: Snapshot[]): boolean {
    const snapshot = from.pop();
    if (snapshot === undefined) return false;
    to.push({ text: this.#text, cursor: this.#cursor });
    [this.#text, this.#cursor, this.#group] = [snapshot.text, snapshot.cursor, undefined];
    if (this.#joined !== undefined) this.#joined = "empty";
    return true;
  }
}

/** The characters of one line as people see them; a folded paste is one. */
export function charactersOf(line: string): string[] {
  if (!foldedPaste.test(line)) return graphemesOf(line);
  return line.split(foldedPastes).flatMap((part) => (foldedPaste.test(part) ? [part] : graphemesOf(part)));
}

export function isFoldedPaste(character: string): boolean {
  return foldedPaste.test(character);
}

function boundariesOf(line: string, start: number): number[] | undefined {
  if (ascii.test(line)) return undefined;
  const boundaries = [start];
  let end = start;
  for (const character of charactersOf(line)) {
    end += character.length;
    boundaries.push(end);
  }
  return boundaries;
}

function clean(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").toWellFormed();
}

function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
