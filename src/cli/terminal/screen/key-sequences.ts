import type { Key } from "./key.js";

/** An answer or report of the terminal that is not a key. */
export type Report =
  | { readonly type: "background"; readonly kind: "dark" | "light" }
  /** The kitty keyboard protocol is known; flags above zero: it is on. */
  | { readonly type: "kitty_keys"; readonly flags: number }
  /** Primary device attributes. Every terminal answers this question, so earlier ones without an answer have none. */
  | { readonly type: "attributes" }
  /** The terminal has drawn everything before the question. */
  | { readonly type: "drawn" }
  | { readonly type: "focus"; readonly isFocused: boolean }
  /** A paste was longer than the limit; the rest was dropped. */
  | { readonly type: "paste_cut"; readonly keptChars: number };

type NamedKey = Extract<Key, { type: "key" }>;
type Modifiers = Pick<NamedKey, "ctrl" | "alt" | "shift">;

const none: Modifiers = { ctrl: false, alt: false, shift: false };

/** The key before `~`: the sequences of VT220, xterm, rxvt and the Linux console. */
const numbered: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

/** The key of a final letter after CSI or SS3. */
const lettered: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  M: "enter",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

const rxvtArrows: Readonly<Record<string, string>> = { a: "up", b: "down", c: "right", d: "left" };
const consoleKeys: Readonly<Record<string, string>> = { A: "f1", B: "f2", C: "f3", D: "f4", E: "f5" };
/** SS3 with these letters: the keypad in application mode. */
const keypad: Readonly<Record<string, string>> = Object.fromEntries(
  "jklmnopqrstuvwxyX".split("").map((letter, index) => [letter, "*+,-./0123456789="[index] ?? ""]),
);

const controlNames: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
};

const firstKittyKeypadDigit = 57_399;
const kittyKeypad = [..."0123456789./*-+".split(""), "enter", "=", ","];
const kittyKeypadMoves = ["left", "right", "up", "down", "pageup", "pagedown", "home", "end", "insert", "delete"];
/** Unicode's private use area: kitty's codes of keys without a character. */
const privateUse = { first: 57_344, last: 63_743 };

const bits = { shift: 1, alt: 2, ctrl: 4, super: 8, hyper: 16, meta: 32 };
const released = 3;
const lightFrom = 0.5;
const maxCodePoint = 0x10_ff_ff;

export function plainKey(name: string, modifiers: Partial<Modifiers> = {}): NamedKey {
  return { type: "key", name, ...none, ...modifiers };
}

/** The key of one character that came without a sequence. Terminals send Ctrl with a letter as a C0 character. */
export function characterKey(character: string, alt = false): NamedKey {
  const code = character.codePointAt(0) ?? 0;
  // 8 is Ctrl-H, and what many terminals send for Ctrl-Backspace.
  const name = code === 8 ? undefined : controlNames[code];
  if (name !== undefined) return plainKey(name, { alt });
  if (code === 0) return plainKey(" ", { ctrl: true, alt });
  if (code < 32) return plainKey(String.fromCharCode(code + 64).toLowerCase(), { ctrl: true, alt });
  return plainKey(character, { alt });
}

/** `ESC O` and its letter, for example `ESC O P`; some terminals put modifiers in between: `ESC O 5 P`. */
export function ss3Key(modifiers: string, final: string): NamedKey | undefined {
  const name = lettered[final] ?? rxvtArrows[final] ?? keypad[final];
  if (name === undefined) return undefined;
  const given = modifiersOf(Number(modifiers));
  // rxvt sends Ctrl with an arrow this way.
  return given === undefined ? undefined : plainKey(name, rxvtArrows[final] === undefined ? given : { ctrl: true });
}

/** The Linux console's F1 to F5: `ESC [ [ A`. */
export function consoleKey(final: string): NamedKey | undefined {
  const name = consoleKeys[final];
  return name === undefined ? undefined : plainKey(name);
}

/**
 * One control sequence: what is between `ESC [` and its final character, and that character. Undefined if it means
 * nothing to cody.
 */
export function csiMeaning(parameters: string, final: string): Key | Report | undefined {
  if (/^[<=>?]/.test(parameters)) return privateReport(parameters, final);
  if (/[^0-9;:]/.test(parameters)) return undefined;
  const fields = parameters.split(";").map((field) => field.split(":").map(Number));
  const [first, second, third] = [fields[0]?.[0] ?? 0, fields[1]?.[0] ?? 0, fields[2]?.[0] ?? 0];
  if (fields[1]?.[1] === released) return undefined;
  if (final === "n" && parameters === "0") return { type: "drawn" };
  if (final === "u") return codeKey(first, second);
  if (final === "~" && first === 27) return codeKey(third, second);
  if (final === "I" || final === "O") return { type: "focus", isFocused: final === "I" };
  if (final === "Z") return plainKey("tab", { shift: true });
  const shifted = rxvtArrows[final];
  if (shifted !== undefined) return plainKey(shifted, { shift: true });
  if (final === "$") return named(numbered[first], { ...none, shift: true });
  if (final === "^") return named(numbered[first], { ...none, ctrl: true });
  if (final === "@") return named(numbered[first], { ...none, ctrl: true, shift: true });
  if (final === "~") return named(numbered[first], modifiersOf(second));
  // Row and column of the cursor end with R too; the row of a modified F3 is 1.
  if (final === "M" || (final === "R" && first > 1)) return undefined;
  return named(lettered[final], modifiersOf(second));
}

/** The answer to a question about colours, `11;rgb:1e1e/1e1e/2e2e`. */
export function oscReport(content: string): Report | undefined {
  const color = /^11;(?:rgba?:([\da-f/]+)|#([\da-f]+))$/i.exec(content);
  const parts = color?.[1]?.split("/") ?? color?.[2]?.match(/.{2}/g);
  const [red, green, blue] = (parts ?? []).map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  const luminance = 0.299 * red + 0.587 * green + 0.114 * blue;
  return { type: "background", kind: luminance > lightFrom ? "light" : "dark" };
}

function privateReport(parameters: string, final: string): Report | undefined {
  if (!parameters.startsWith("?")) return undefined;
  if (final === "c") return { type: "attributes" };
  return final === "u" ? { type: "kitty_keys", flags: Number(parameters.slice(1)) || 0 } : undefined;
}

/** A key by its code, as in kitty's `CSI code ; modifiers u` and xterm's `CSI 27 ; modifiers ; code ~`. */
function codeKey(code: number, encodedModifiers: number): NamedKey | undefined {
  const modifiers = modifiersOf(encodedModifiers);
  if (modifiers === undefined || code > maxCodePoint) return undefined;
  if (code >= privateUse.first && code <= privateUse.last) return named(privateName(code), modifiers);
  const name = controlNames[code];
  if (name !== undefined) return plainKey(name, modifiers);
  if (code < 32) return undefined;
  const character = String.fromCodePoint(code);
  const { ctrl, alt, shift } = modifiers;
  if (ctrl) return plainKey(character.toLowerCase(), modifiers);
  const upper = character.toUpperCase();
  // The same key as without the protocol: an uppercase letter, and no Shift.
  if (shift && upper !== character) return plainKey(upper, { alt });
  return plainKey(character, { alt, shift: shift && alt && upper === character.toLowerCase() });
}

function privateName(code: number): string | undefined {
  return [...kittyKeypad, ...kittyKeypadMoves][code - firstKittyKeypadDigit];
}

function named(name: string | undefined, modifiers: Modifiers | undefined): NamedKey | undefined {
  return name === undefined || modifiers === undefined ? undefined : plainKey(name, modifiers);
}

/** Undefined with Super or Hyper: those belong to the desktop. */
function modifiersOf(encoded: number): Modifiers | undefined {
  const set = Math.max(0, (Number.isFinite(encoded) ? encoded : 0) - 1);
  if ((set & (bits.super | bits.hyper)) !== 0) return undefined;
  return {
    ctrl: (set & bits.ctrl) !== 0,
    alt: (set & (bits.alt | bits.meta)) !== 0,
    shift: (set & bits.shift) !== 0,
  };
}
