import { mask } from "../../messages/redaction.js";
import type { Value } from "./value-at.js";

/** Where a value stands: what comes before and behind it tells a setting from a line of code. */
export interface ValueContext {
  /** The name before it, in small letters and nothing else. */
  readonly name: string;
  /** `=` with nothing around it, as in a shell, an address or an environment, or a header that says what follows. */
  readonly isTight: boolean;
  /** What follows on the same line. */
  readonly rest: string;
}

const minChars = 3;
/** A word without a digit is a password only where nothing else can stand, or when it is long. */
const minPlainChars = 8;
const minDigits = 6;
const minTightDigits = 4;
/** In code it mostly means a piece of a text, so its value must look like a secret. */
const strictNames = new Set(["token"]);

const placeholder =
  /^(?:[$*<{[(]|%[\w(]|\.{0,2}\/|\.\.\.|…|x{3,}$|your[_ -]|example|changeme|todo\b)|\$\{|\{\{|\$\(|%s/i;
const codeBegin = /^[!?#@=>|~+-]/;
const words = new Set(
  (
    "string str text number int integer float bool boolean bytes buffer date object array list dict map set any unknown " +
    "never void null nil none undefined nan true false yes no on off this self super new await async return throw case " +
    "break continue default function const let var type typeof import export from require optional required readonly " +
    "public private protected static hidden secret password passwd token key value name redacted empty missing invalid " +
    "bearer basic digest env environment input output data process request response config options"
  ).split(" "),
);
const plainWord = /^[A-Za-z_$-]+$/;
const identifier = /^[A-Za-z_$#][\w$]*$/;
const maxNameChars = 24;
const variable = /^[a-z_$]+(?:[A-Z][a-z]*)*$/;
const smallWord = /^[a-z]+$/;
const sentence = /^\p{Lu}[\p{L}',-]*(?: [\p{L}',-]+)+[.!?…:]?$/u;

/** Whether a value is worth hiding: not a type, an expression, a placeholder or a sentence. */
export function isSecretValue({ text, isQuoted }: Pick<Value, "text" | "isQuoted">, context: ValueContext): boolean {
  if (text.length < minChars || text === mask || !/[\p{L}\p{N}]/u.test(text)) return false;
  if (text.includes(mask)) return true;
  if (text.startsWith("-----BEGIN")) return true;
  if (placeholder.test(text) || words.has(text.toLowerCase())) return false;
  if (mayBeCode(text, isQuoted) && saysTheName(text, context.name)) return false;
  if (strictNames.has(context.name) && !looksRandom(text)) return false;
  return isQuoted ? !sentence.test(text) : isSecretWord(text, context);
}

function isSecretWord(text: string, { isTight, rest }: ValueContext): boolean {
  if (codeBegin.test(text) || /^[([]/.test(rest) || isPath(text)) return false;
  if (/^\d+$/.test(text)) return text.length >= (isTight ? minTightDigits : minDigits);
  if (!plainWord.test(text)) return isTight || text.length >= minDigits;
  if (isTight) return !(/^[,)]/.test(rest) && variable.test(text));
  return text.length >= minPlainChars && smallWord.test(text) && /^(?:\s*$|["'`])/.test(rest);
}

/** As `process.env.KEY` is; a part of a key is longer than a name, or has digits. */
function isPath(text: string): boolean {
  const names = text.replace(/[!?]+$/, "").split(/[!?]*\./);
  return (
    names.length > 1 &&
    names.every((name) => identifier.test(name) && (name.length <= maxNameChars || !/\d/.test(name)))
  );
}

/** A name of something else, or words about it; in quotes a digit makes it a value. */
function mayBeCode(text: string, isQuoted: boolean): boolean {
  return isQuoted ? !/\d/.test(text) : /^[\w$.!?#]+$/.test(text);
}

/** As `password: userPassword` and `"Enter your password"` do. */
function saysTheName(text: string, name: string): boolean {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .includes(name);
}

function looksRandom(text: string): boolean {
  return text.length >= minPlainChars && /\d/.test(text) && !/\s/.test(text);
}
