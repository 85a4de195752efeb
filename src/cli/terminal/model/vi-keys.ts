import { maxInputChars } from "../../../messages/user-input.js";
import { type Editing, keyName, type NamedKey, typedCharacter } from "./editing.js";
import { pressEmacs } from "./emacs-keys.js";
import {
  type CharacterFind,
  findInLine,
  firstOfLine,
  isMotion,
  leftInLine,
  type Motion,
  motionOf,
  repeat,
  rightInLine,
} from "./vi-motions.js";
import { kindOf } from "./words.js";

type Operator = "d" | "c" | "y";

const maxCount = 1_000;
const operators: ReadonlySet<string> = new Set<Operator>(["d", "c", "y"]);
const finds: ReadonlySet<string> = new Set<CharacterFind>(["f", "F", "t", "T"]);
const opposite: Readonly<Record<CharacterFind, CharacterFind>> = { f: "F", F: "f", t: "T", T: "t" };

/** A command of which the rest has not been typed. */
interface Pending {
  readonly operator?: Operator;
  /** The counts before and after the operator. */
  readonly counts: readonly [string, string];
  /** A key that needs one more character. */
  readonly waiting?: "g" | "r" | CharacterFind;
}

const nothing: Pending = { counts: ["", ""] };

/** The keys of vi. In insert mode they are those of emacs, up to Escape. */
export class ViKeys {
  readonly #editing: Editing;
  #mode: "insert" | "normal" = "insert";
  #pending = nothing;
  #register = { text: "", isLine: false };
  #lastFind: { readonly find: CharacterFind; readonly character: string } | undefined;

  constructor(editing: Editing) {
    this.#editing = editing;
    this.#insertMode();
  }

  get mode(): "insert" | "normal" {
    return this.#mode;
  }

  /** The command so far, for example `2d`. */
  get pending(): string {
    const { operator = "", counts, waiting = "" } = this.#pending;
    return counts[0] + operator + counts[1] + waiting;
  }

  /** Starts again in insert mode; `change` replaces the text that `p` inserts. */
  reset(change: (text: string) => string): void {
    this.#register = { ...this.#register, text: change(this.#register.text) };
    this.#pending = nothing;
    this.#insertMode();
  }

  press(key: NamedKey): boolean {
    const isUsed = this.#mode === "insert" ? this.#pressInserting(key) : this.#pressNormal(key);
    if (this.#mode === "normal") this.#stayOnCharacter();
    return isUsed;
  }

  #pressInserting(key: NamedKey): boolean {
    if (keyName(key) !== "escape") return pressEmacs(key, this.#editing);
    const { buffer } = this.#editing;
    this.#mode = "normal";
    buffer.endJoinedStep();
    buffer.moveTo(leftInLine(buffer, buffer.cursor));
    return true;
  }

  #pressNormal(key: NamedKey): boolean {
    const pending = this.#pending;
    this.#pending = nothing;
    const character = typedCharacter(key);
    if (character !== undefined) {
      if (pending.waiting === undefined) this.#command(character, pending);
      else this.#complete(character, pending, pending.waiting);
      return true;
    }
    const name = keyName(key);
    if (name === "escape") return pending !== nothing;
    if (name === "ctrl+r") return this.#editing.buffer.redo();
    if (name === "backspace") return this.#move("h", pending);
    return pressEmacs(key, this.#editing);
  }

  #command(character: string, pending: Pending): void {
    const { operator, counts } = pending;
    const count = operator === undefined ? counts[0] : counts[1];
    if (/[1-9]/.test(character) || (character === "0" && count !== ""))
      this.#pending = {
        ...pending,
        counts: operator === undefined ? [count + character, ""] : [counts[0], count + character],
      };
    else if (character === "g" || finds.has(character))
      this.#pending = { ...pending, waiting: character as "g" | CharacterFind };
    else if (character === ";" || character === ",") this.#findAgain(character, pending);
    else if (isMotion(character)) this.#move(character, pending);
    else if (operator !== undefined) {
      if (character === operator) this.#operateOnLines(operator, countOf(pending));
    } else if (operators.has(character)) this.#pending = { ...pending, operator: character as Operator };
    else if (character === "r") this.#pending = { ...pending, waiting: "r" };
    else this.#edit(character, countOf(pending));
  }

  /** The character that a command was waiting for. */
  #complete(character: string, pending: Pending, waiting: NonNullable<Pending["waiting"]>): void {
    if (waiting === "r") this.#replaceCharacters(character, countOf(pending));
    else if (waiting !== "g") this.#find({ find: waiting, character }, pending, "remember");
    else if (character === "g") this.#move("gg", pending);
  }

  #move(key: string, pending: Pending): true {
    const { buffer } = this.#editing;
    const { operator } = pending;
    const count = countOf(pending);
    if (operator === undefined && (key === "j" || key === "k")) {
      for (let times = 0; times < count && this.#editing.moveRow(key === "j" ? 1 : -1); times += 1);
      return true;
    }
    // `cw` changes the word and leaves the spaces after it.
    const isChangeWord =
      operator === "c" && (key === "w" || key === "W") && kindOf(buffer.at(buffer.cursor)) !== "space";
    const motion = isChangeWord
      ? this.#wordEnd(key === "w" ? "e" : "E", count)
      : motionOf(key, {
          buffer,
          from: buffer.cursor,
          count,
          isCounted: pending.counts.some((typed) => typed !== ""),
          isOperand: operator !== undefined,
        });
    if (motion !== undefined) this.#apply(motion, operator);
    return true;
  }

  /** The end of the word under the cursor, also if the cursor is on its last character. */
  #wordEnd(key: "e" | "E", count: number): Motion | undefined {
    const { buffer } = this.#editing;
    const from = buffer.cursor;
    const next = kindOf(buffer.at(buffer.after()));
    const isLast =
      buffer.after() >= buffer.text.length || (key === "e" ? next !== kindOf(buffer.at(from)) : next === "space");
    const rest = isLast ? count - 1 : count;
    if (rest === 0) return { to: from, kind: "inclusive" };
    return motionOf(key, { buffer, from, count: rest, isCounted: true, isOperand: true });
  }

  #find(
    { find, character }: { readonly find: CharacterFind; readonly character: string },
    pending: Pending,
    remember?: "remember",
  ): void {
    if (remember !== undefined) this.#lastFind = { find, character };
    const motion = findInLine(this.#editing.buffer, { find, character, count: countOf(pending) });
    if (motion !== undefined) this.#apply(motion, pending.operator);
  }

  #findAgain(key: ";" | ",", pending: Pending): void {
    const last = this.#lastFind;
    if (last === undefined) return;
    this.#find({ ...last, find: key === ";" ? last.find : opposite[last.find] }, pending);
  }

  #apply({ to, kind }: Motion, operator: Operator | undefined): void {
    const { buffer } = this.#editing;
    const from = buffer.cursor;
    if (operator === undefined) buffer.moveTo(kind === "line" ? firstOfLine(buffer, to) : to);
    else if (kind === "line") this.#operateLines(operator, Math.min(from, to), Math.max(from, to));
    else {
      const end = Math.max(from, to);
      this.#operate(operator, Math.min(from, to), kind === "inclusive" ? buffer.after(end) : end);
    }
  }

  #operate(operator: Operator, start: number, end: number): void {
    const { buffer } = this.#editing;
    this.#register = { text: buffer.text.slice(start, end), isLine: false };
    if (operator === "c") this.#insertMode();
    if (operator === "y") buffer.moveTo(start);
    else buffer.remove(start, end);
  }

  /** `dd`, `cc`, `yy`: the line of the cursor and those below. */
  #operateOnLines(operator: Operator, count: number): void {
    const { buffer } = this.#editing;
    const last = repeat(count - 1, buffer.cursor, (at) => {
      const end = buffer.lineEnd(at);
      return end === buffer.text.length ? at : end + 1;
    });
    const { cursor } = buffer;
    this.#operateLines(operator, cursor, last);
    if (operator === "y") buffer.moveTo(cursor);
  }

  #operateLines(operator: Operator, first: number, last: number): void {
    const { buffer } = this.#editing;
    const [start, end] = [buffer.lineStart(first), buffer.lineEnd(last)];
    this.#register = { text: buffer.text.slice(start, end), isLine: true };
    if (operator === "y") return buffer.moveTo(first);
    if (operator === "c") {
      this.#insertMode();
      buffer.moveTo(start);
      return void buffer.remove(start, end);
    }
    // A line goes with one line break: the one after it, or before the last line.
    if (end < buffer.text.length) buffer.remove(start, end + 1);
    else buffer.remove(Math.max(0, start - 1), end);
    return buffer.moveTo(firstOfLine(buffer, buffer.cursor));
  }

  /** Commands without a motion. */
  #edit(character: string, count: number): void {
    const { buffer } = this.#editing;
    const { cursor } = buffer;
    switch (character) {
      case "i":
        return this.#insertMode();
      case "a":
        buffer.moveTo(rightInLine(buffer, cursor));
        return this.#insertMode();
      case "I":
        buffer.moveTo(firstOfLine(buffer, cursor));
        return this.#insertMode();
      case "A":
        buffer.moveTo(buffer.lineEnd());
        return this.#insertMode();
      case "o":
        this.#insertMode();
        return buffer.replace(buffer.lineEnd(), buffer.lineEnd(), "\n");
      case "O":
        this.#insertMode();
        buffer.replace(buffer.lineStart(), buffer.lineStart(), "\n");
        return buffer.moveTo(buffer.before());
      case "x":
        return this.#operate(
          "d",
          cursor,
          repeat(count, cursor, (at) => rightInLine(buffer, at)),
        );
      case "X":
        return this.#operate(
          "d",
          repeat(count, cursor, (at) => leftInLine(buffer, at)),
          cursor,
        );
      case "s":
        return this.#operate(
          "c",
          cursor,
          repeat(count, cursor, (at) => rightInLine(buffer, at)),
        );
      case "S":
        return this.#operateOnLines("c", count);
      case "D":
        return this.#operate("d", cursor, buffer.lineEnd());
      case "C":
        return this.#operate("c", cursor, buffer.lineEnd());
      case "Y":
        return this.#operateOnLines("y", count);
      case "p":
      case "P":
        return this.#put(character, count);
      case "u":
        for (let times = 0; times < count && buffer.undo(); times += 1);
        return undefined;
      default:
        return undefined;
    }
  }

  #put(key: "p" | "P", count: number): void {
    const { buffer } = this.#editing;
    const { text, isLine } = this.#register;
    if (text === "" && !isLine) return;
    // More than this is refused by the text, and may be more than a string can hold.
    const times = Math.min(count, Math.ceil(maxInputChars / (text.length + 1)));
    const isAfter = key === "p";
    if (isLine) {
      const lines = `${text}\n`.repeat(times).slice(0, -1);
      const at = isAfter ? buffer.lineEnd() : buffer.lineStart();
      buffer.replace(at, at, isAfter ? `\n${lines}` : `${lines}\n`);
      buffer.moveTo(firstOfLine(buffer, isAfter ? at + 1 : at));
      return;
    }
    const at = isAfter ? rightInLine(buffer, buffer.cursor) : buffer.cursor;
    buffer.replace(at, at, text.repeat(times));
    buffer.moveTo(buffer.before());
  }

  /** Does nothing if the line has fewer characters. */
  #replaceCharacters(character: string, count: number): void {
    const { buffer } = this.#editing;
    const { cursor } = buffer;
    let end = cursor;
    for (let times = 0; times < count; times += 1) {
      const next = rightInLine(buffer, end);
      if (next === end) return;
      end = next;
    }
    buffer.replace(cursor, end, character.repeat(count));
    buffer.moveTo(buffer.before());
  }

  /** All that is typed until Escape is one undo step, together with the command that started it. */
  #insertMode(): void {
    this.#mode = "insert";
    this.#editing.buffer.startJoinedStep();
  }

  /** In normal mode the cursor is never behind the last character of a line. */
  #stayOnCharacter(): void {
    const { buffer } = this.#editing;
    if (buffer.cursor === buffer.lineEnd()) buffer.moveTo(leftInLine(buffer, buffer.cursor));
  }
}

function countOf({ counts }: Pending): number {
  const [before, after] = counts.map((typed) => (typed === "" ? 1 : Number(typed)));
  return Math.min(maxCount, (before ?? 1) * (after ?? 1));
}
