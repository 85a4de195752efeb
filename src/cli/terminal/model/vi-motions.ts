import type { TextBuffer } from "./text-buffer.js";
import { kindOf, skip } from "./words.js";

/** Where a motion goes, and what an operator does with the character or the line there. */
export interface Motion {
  readonly to: number;
  readonly kind: "exclusive" | "inclusive" | "line";
}

interface MotionContext {
  readonly buffer: TextBuffer;
  readonly from: number;
  readonly count: number;
  /** Whether somebody typed the count. */
  readonly isCounted: boolean;
  /** Whether an operator waits for the motion. */
  readonly isOperand: boolean;
}

type FindMotion = (context: MotionContext) => Motion | undefined;

/** Motions by their key. */
const motions: ReadonlyMap<string, FindMotion> = new Map<string, FindMotion>([
  ["h", ({ buffer, from, count }) => exclusive(repeat(count, from, (at) => leftInLine(buffer, at)))],
  ["l", ({ buffer, from, count }) => exclusive(repeat(count, from, (at) => rightInLine(buffer, at)))],
  ["w", (context) => wordMotion(context, isSmall)],
  ["W", (context) => wordMotion(context, isBig)],
  ["e", ({ buffer, from, count }) => inclusive(repeat(count, from, (at) => lastOfWord(buffer, at, isSmall)))],
  ["E", ({ buffer, from, count }) => inclusive(repeat(count, from, (at) => lastOfWord(buffer, at, isBig)))],
  ["b", ({ buffer, from, count }) => exclusive(repeat(count, from, (at) => firstOfWord(buffer, at, isSmall)))],
  ["B", ({ buffer, from, count }) => exclusive(repeat(count, from, (at) => firstOfWord(buffer, at, isBig)))],
  ["0", ({ buffer, from }) => exclusive(buffer.lineStart(from))],
  ["^", ({ buffer, from }) => exclusive(firstOfLine(buffer, from))],
  ["$", ({ buffer, from, count }) => exclusive(buffer.lineEnd(linesDown(buffer, from, count - 1)))],
  ["j", ({ buffer, from, count }) => otherLine(buffer, from, linesDown(buffer, from, count))],
  ["k", ({ buffer, from, count }) => otherLine(buffer, from, linesUp(buffer, from, count))],
  ["G", ({ buffer, count, isCounted }) => line(isCounted ? linesDown(buffer, 0, count - 1) : buffer.text.length)],
  ["gg", ({ buffer, count }) => line(linesDown(buffer, 0, count - 1))],
]);

export function motionOf(key: string, context: MotionContext): Motion | undefined {
  return motions.get(key)?.(context);
}

export function isMotion(key: string): boolean {
  return motions.has(key);
}

/** `f`, `F`, `t` and `T`: to a character in the same line, or next to it. */
export type CharacterFind = "f" | "F" | "t" | "T";

export function findInLine(
  buffer: TextBuffer,
  { find, character, count }: { readonly find: CharacterFind; readonly character: string; readonly count: number },
): Motion | undefined {
  const isForward = find === "f" || find === "t";
  const isTill = find === "t" || find === "T";
  const [start, end] = [buffer.lineStart(), buffer.lineEnd()];
  let at = buffer.cursor;
  for (let found = 0; found < count;) {
    const next = isForward ? buffer.after(at) : buffer.before(at);
    if (next === at || (isForward ? next >= end : next < start)) return undefined;
    at = next;
    if (buffer.at(at) === character) found += 1;
  }
  if (isForward) return inclusive(isTill ? buffer.before(at) : at);
  return exclusive(isTill ? buffer.after(at) : at);
}

/** The first character of a line that is not a space. */
export function firstOfLine(buffer: TextBuffer, place: number): number {
  const end = buffer.lineEnd(place);
  return Math.min(
    end,
    skip(buffer, buffer.lineStart(place), (kind) => kind === "space"),
  );
}

export function leftInLine(buffer: TextBuffer, place: number): number {
  return Math.max(buffer.lineStart(place), buffer.before(place));
}

export function rightInLine(buffer: TextBuffer, place: number): number {
  return Math.min(buffer.lineEnd(place), buffer.after(place));
}

export function repeat(count: number, from: number, step: (at: number) => number): number {
  let at = from;
  for (let times = 0; times < count; times += 1) {
    const next = step(at);
    if (next === at) break;
    at = next;
  }
  return at;
}

/** Words in small letters end at punctuation, those in capitals only at spaces. */
type SameWord = (a: string, b: string) => boolean;
const isSmall: SameWord = (a, b) => kindOf(a) === kindOf(b);
const isBig: SameWord = (a, b) => (kindOf(a) === "space") === (kindOf(b) === "space");

/** With an operator, the last word ends with its line, and `cw` leaves the spaces after it: vi's two exceptions. */
function wordMotion({ buffer, from, count, isOperand }: MotionContext, isSame: SameWord): Motion {
  const before = repeat(count - 1, from, (at) => nextWord(buffer, at, isSame));
  const to = nextWord(buffer, before, isSame);
  return exclusive(isOperand ? Math.min(to, Math.max(buffer.lineEnd(before), from)) : to);
}

/** An empty line counts as a word. */
function nextWord(buffer: TextBuffer, place: number, isSame: SameWord): number {
  const { length } = buffer.text;
  const first = buffer.at(place);
  let at = place;
  while (at < length && kindOf(first) !== "space" && isSame(first, buffer.at(at))) at = buffer.after(at);
  while (at < length && kindOf(buffer.at(at)) === "space" && !(at !== place && isEmptyLine(buffer, at)))
    at = buffer.after(at);
  return at;
}

function lastOfWord(buffer: TextBuffer, place: number, isSame: SameWord): number {
  const { length } = buffer.text;
  let at = buffer.after(place);
  while (at < length && kindOf(buffer.at(at)) === "space") at = buffer.after(at);
  const first = buffer.at(at);
  while (buffer.after(at) < length && isSame(first, buffer.at(buffer.after(at)))) at = buffer.after(at);
  return Math.min(at, buffer.before(length));
}

function firstOfWord(buffer: TextBuffer, place: number, isSame: SameWord): number {
  let at = buffer.before(place);
  while (at > 0 && kindOf(buffer.at(at)) === "space" && !isEmptyLine(buffer, at)) at = buffer.before(at);
  const last = buffer.at(at);
  while (at > 0 && kindOf(last) !== "space" && isSame(last, buffer.at(buffer.before(at)))) at = buffer.before(at);
  return at;
}

function isEmptyLine(buffer: TextBuffer, place: number): boolean {
  return buffer.text[place] === "\n" && buffer.lineStart(place) === place;
}

/** The start of the line so many lines below, or of the last one. */
function linesDown(buffer: TextBuffer, from: number, count: number): number {
  return repeat(count, buffer.lineStart(from), (at) => {
    const end = buffer.lineEnd(at);
    return end === buffer.text.length ? at : end + 1;
  });
}

function linesUp(buffer: TextBuffer, from: number, count: number): number {
  return repeat(count, buffer.lineStart(from), (at) => (at === 0 ? 0 : buffer.lineStart(at - 1)));
}

/** An operator does nothing if there is no other line. */
function otherLine(buffer: TextBuffer, from: number, to: number): Motion | undefined {
  return to === buffer.lineStart(from) ? undefined : line(to);
}

function exclusive(to: number): Motion {
  return { to, kind: "exclusive" };
}

function inclusive(to: number): Motion {
  return { to, kind: "inclusive" };
}

function line(to: number): Motion {
  return { to, kind: "line" };
}
