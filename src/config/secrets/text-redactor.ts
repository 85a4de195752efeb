import { mask, type OnSecret, type RedactionRules, type TextRedactor } from "../../base/text/redaction.js";
import { allEncodingsOf, escapeJson, minSecretChars } from "./redact.js";

/** A token expires after about an hour, so after this many newer ones the oldest is no longer useful. */
const maxLearned = 100;

/** A longer value is not a secret, but the result of an unclosed quote. */
const maxChars = 8_192;

const quotes = new Set(['"', "'", "`"]);

/** A piece of an unquoted value. An escape sequence ends it; the mask does not. */
const unquotedPiece = /(?:[^\s"'`,;&()<>{}[\]|\\]|\\(?![nrt"'`\\])|\[redacted\]){1,512}/y;

const keyBegin = "-----BEGIN";

/** A key as `printenv` prints it: several lines without quotes. */
const privateKeyBlock = /-----BEGIN [A-Z0-9 ]{1,64}-----(?:[^-]|-(?!----)){0,16384}-----END [A-Z0-9 ]{1,64}-----/y;

const minChars = 3;

/** A word without a digit counts as a password only in an unambiguous position, or if it is at least this long. */
const minPlainChars = 8;

const minDigits = 6;

const minTightDigits = 4;

/** In code this name mostly means a lexer token, so its value must look like a secret. */
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

const scheme = /(?:bearer|basic|token|digest)[ \t]{1,4}/iy;

const restOfLine = 40;

/**
 * Keys recognized by their shape. Each pattern begins with a fixed word, so that a long text is searched in linear
 * time.
 */
const secretShapes: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,16384}-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
  /(?<=:\/\/[^\s/@:"'`]{0,100}:)[^\s/@"'`${}<>[\]]{3,200}(?=@[\w[])/g,
  /(?<=\bbearer[ \t]{1,4})(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{16,4096}/gi,
  /(?<![A-Za-z0-9])sk-(?=[\w-]{0,200}\d)[\w-]{16,200}/g,
  /(?<![A-Za-z0-9])[sr]k_(?:live|test)_\w{16,200}/g,
  /(?<![A-Za-z0-9])(?:gh[pousr]_\w{30,255}|github_pat_\w{30,255}|glpat-[\w-]{20,100}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,60})/g,
  /(?<![A-Za-z0-9])xox[abeprs]-[\w-]{10,200}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])AIza[\w-]{35}(?![\w-])/g,
  /(?<![\w-])eyJ[\w-]{10,4096}\.eyJ[\w-]{10,8192}\.[\w-]{0,4096}/g,
];

/** Matches every text in which `redactShapes` would find something, also after escaping. */
const shapesHint =
  "PRIVATE KEY|://[^\\s/@:\"'`\\\\]{0,100}:[^\\s/@\"'`]{3,200}@|bearer|sk-[\\w-]{16}|[sr]k_(?:live|test)_|gh[pousr]_\\w{30}|github_pat_|glpat-|npm_[a-z0-9]{36}|hf_[a-z0-9]{30}|xox[abeprs]-|A[KS]IA[0-9A-Z]{16}|AIza[\\w-]{35}|eyJ[\\w-]{10}";

/** A printable character written as a \u escape in JSON nested in JSON, which could hide a secret from the search. */
const hiddenChar = "\\\\\\\\u00[2-7]";
/** The minimum length of a needle: a part of a form that no escaping changes, and long enough to be rare. */
const minNeedleChars = 4;
/** A text in which secrets are nested deeper than this was made to hide them. */
const maxPasses = 5;

/**
 * Masks known values first, which are exact. Then masks by shape and by name, and repeats as long as masking reveals
 * more.
 */
export function createTextRedactor({ secrets, exact = [], names, shapes }: RedactionRules): TextRedactor {
  const counted = secrets.filter((secret) => secret.length >= minSecretChars && isMaskable(secret));
  const ofSecrets = counted.map((secret) => allEncodingsOf(secret).map((form) => ({ form, secret })));
  const ofExact = exact
    .filter(isMaskable)
    .map((secret) => [secret, escapeJson(secret)].map((form) => ({ form, secret })));
  const forms = [...ofSecrets, ...ofExact].flat().toSorted((a, b) => b.form.length - a.form.length);
  const needles = [...new Set(forms.map(({ form }) => needleOf(form)))].filter(isNeeded);
  const named = namedValues(names);
  const hints = [...(named === undefined ? [] : [named.hint]), ...(shapes ? [shapesHint] : []), hiddenChar];
  const hint = new RegExp(hints.join("|"), "i");

  function redactKnown(text: string, onSecret: OnSecret): string {
    return forms.reduce((rest, { form, secret }) => {
      if (!rest.includes(form)) return rest;
      onSecret("known", secret);
      return rest.replaceAll(form, mask);
    }, text);
  }

  function redactUnknown(text: string, onSecret: OnSecret): string {
    const withoutShapes = shapes ? redactShapes(text, (value) => onSecret("shaped", value)) : text;
    return named?.redact(withoutShapes, (value) => onSecret("named", value)) ?? withoutShapes;
  }

  return {
    suspects: (json) => needles.some((needle) => json.includes(needle)) || hint.test(json),
    redactKnown,
    redact: (text, onSecret) => {
      let redacted = redactKnown(text, onSecret);
      for (let pass = 0; pass < maxPasses; pass += 1) {
        const before = redacted;
        redacted = redactUnknown(before, pass === 0 ? onSecret : withoutWrappers(onSecret));
        if (redacted === before) return redacted;
      }
      return mask;
    },
    isSecretField: (name, value) => named !== undefined && named.isName(name) && named.isSecret(name, value),
  };
}

/** Does not report a value around a mask again: the secret in it was reported when it was masked. */
function withoutWrappers(onSecret: OnSecret): OnSecret {
  return (kind, value) => {
    if (!value.includes(mask)) onSecret(kind, value);
  };
}

/** A secret that is part of the mask itself could never be removed. */
export function isMaskable(secret: string): boolean {
  return !mask.includes(secret);
}

function isNeeded(needle: string, index: number, all: readonly string[]): boolean {
  return !all.some((other, at) => at !== index && needle.includes(other));
}

/**
 * The longest part that no escaping changes. Without one, the whole form; its escaped variants are forms of their own.
 */
function needleOf(form: string): string {
  const runs = form.match(/[A-Za-z0-9_.-]+/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
  return longest.length >= minNeedleChars ? longest : form;
}

function redactShapes(text: string, onFound: (value: string) => void): string {
  return secretShapes.reduce((rest, shape) => rest.replaceAll(shape, (found) => (onFound(found), mask)), text);
}

/** Finds values assigned to certain names in texts: `api_key=…`, `"password": "…"`, `X-Api-Key: …`. */
interface NamedValues {
  /** Matches every text in which `redact` would find something, after any number of escapings. */
  readonly hint: string;
  redact(text: string, onFound: (value: string) => void): string;
  /** Whether this is such a name, or ends in one. */
  isName(name: string): boolean;
  /** Whether a value of this name must be masked. */
  isSecret(name: string, value: string): boolean;
}

/** Names match with any prefix and however their words are joined; undefined if there are none. */
function namedValues(names: readonly string[]): NamedValues | undefined {
  if (names.length === 0) return undefined;
  const source = names
    .toSorted((a, b) => b.length - a.length)
    .map(patternOf)
    .join("|");
  const assigned = new RegExp(
    `(${source})(?:\\\\{0,7}["'\`])?\\]?([ \\t]{0,8})(:=|=(?![=>~])|:(?![:=]))([ \\t]{0,8})`,
    "gi",
  );
  const ending = new RegExp(`(${source})$`, "i");
  return {
    hint: `(?:${source})(?:[\\\\"'\`\\] \\t]|\\\\t){0,24}[:=]`,
    redact: (text, onFound) => {
      let redacted = "";
      let done = 0;
      assigned.lastIndex = 0;
      for (let match = assigned.exec(text); match !== null; match = assigned.exec(text)) {
        const [whole, name = "", before = "", sign = "", after = ""] = match;
        const at = match.index + whole.length;
        const from = skipScheme(text, at);
        const value = valueAt(text, from);
        if (value === undefined) continue;
        const rest = text.slice(value.to, value.to + restOfLine).split("\n", 1)[0] ?? "";
        const isTight = from > at || (sign === "=" && before === "" && after === "");
        if (!isSecretValue(value, { name: bareName(name), isTight, rest })) continue;
        redacted += text.slice(done, value.from) + mask;
        done = value.isQuoted ? value.to : wordEnd(text, value.to);
        onFound(text.slice(value.from, done));
        assigned.lastIndex = done;
      }
      return done === 0 ? text : redacted + text.slice(done);
    },
    isName: (name) => ending.test(name),
    isSecret: (name, value) => {
      const [, found = ""] = ending.exec(name) ?? [];
      return isSecretValue({ text: value, isQuoted: true }, { name: bareName(found), isTight: false, rest: "" });
    },
  };
}

/** `api_key` also matches `apiKey`, `api-key` and `API KEY`. */
function patternOf(name: string): string {
  return name
    .split(/[_\-. ]+|(?<=[a-z0-9])(?=[A-Z])/)
    .filter((word) => word !== "")
    .join("[_\\-. ]?");
}

/** Skips the authentication scheme before the key in a header. */
function skipScheme(text: string, at: number): number {
  scheme.lastIndex = at;
  return scheme.test(text) ? scheme.lastIndex : at;
}

function bareName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** The surroundings of a value, which distinguish a setting from a line of code. */
interface ValueContext {
  /** The name before the value, reduced to lower-case letters and digits. */
  readonly name: string;
  /** `=` without spaces, as in a shell, a URL or an environment, or a header with an authentication scheme. */
  readonly isTight: boolean;
  /** The rest of the same line. */
  readonly rest: string;
}

/** Whether a value should be masked: it is not a type, an expression, a placeholder or a sentence. */
function isSecretValue({ text, isQuoted }: Pick<Value, "text" | "isQuoted">, context: ValueContext): boolean {
  if (text.length < minChars || text === mask || !/[\p{L}\p{N}]/u.test(text)) return false;
  if (text.includes(mask)) return true;
  if (text.startsWith("-----BEGIN")) return true;
  if (placeholder.test(text) || words.has(text.toLowerCase())) return false;
  if (mayBeCode(text, isQuoted) && repeatsName(text, context.name)) return false;
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

/** Such as `process.env.KEY`. A part of a real key is longer than an identifier, or has digits. */
function isPath(text: string): boolean {
  const names = text.replace(/[!?]+$/, "").split(/[!?]*\./);
  return (
    names.length > 1 &&
    names.every((name) => identifier.test(name) && (name.length <= maxNameChars || !/\d/.test(name)))
  );
}

/** An identifier, or words about the secret; in quotes, a digit makes it a value. */
function mayBeCode(text: string, isQuoted: boolean): boolean {
  return isQuoted ? !/\d/.test(text) : /^[\w$.!?#]+$/.test(text);
}

/** As in `password: userPassword` and `"Enter your password"`. */
function repeatsName(text: string, name: string): boolean {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .includes(name);
}

function looksRandom(text: string): boolean {
  return text.length >= minPlainChars && /\d/.test(text) && !/\s/.test(text);
}

/** The value after `name =` in a text. */
interface Value {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The value that begins here; undefined if there is none, or if it has no end. */
function valueAt(text: string, at: number): Value | undefined {
  let from = at;
  while (text[from] === "\\") from += 1;
  const quote = text[from];
  if (quote !== undefined && quotes.has(quote)) return quotedAt(text, from + 1, quote, from - at);
  return from === at ? wordAt(text, at) : undefined;
}

/** Nested quotes are escaped once more than the quotes around them. */
function quotedAt(text: string, from: number, quote: string, depth: number): Value | undefined {
  const mayBreak = quote === "`" || text.startsWith(keyBegin, from);
  const end = Math.min(text.length, from + maxChars);
  for (let at = from; at < end; at += 1) {
    const char = text[at];
    if (char === "\n" && !mayBreak) return undefined;
    let slashes = 0;
    while (text[at + slashes] === "\\") slashes += 1;
    const isQuote = text[at + slashes] === quote;
    const closes = depth === 0 ? slashes % 2 === 0 : slashes <= depth;
    if (isQuote && closes) return { from, to: at, text: text.slice(from, at), isQuoted: true };
    at += isQuote ? slashes : Math.max(0, slashes - 1);
  }
  return undefined;
}

/** Reads only as much as is needed to judge the value; `wordEnd` finds its end. */
function wordAt(text: string, from: number): Value | undefined {
  const to = keyEnd(text, from) ?? readWord(text, from, 1);
  return to === from ? undefined : { from, to, text: text.slice(from, to), isQuoted: false };
}

function keyEnd(text: string, from: number): number | undefined {
  privateKeyBlock.lastIndex = from;
  return privateKeyBlock.test(text) ? privateKeyBlock.lastIndex : undefined;
}

function wordEnd(text: string, from: number): number {
  return readWord(text, from, Number.POSITIVE_INFINITY);
}

function readWord(text: string, from: number, pieces: number): number {
  let to = from;
  for (let piece = 0; piece < pieces; piece += 1) {
    unquotedPiece.lastIndex = to;
    if (!unquotedPiece.test(text)) break;
    to = unquotedPiece.lastIndex;
  }
  return to;
}

/** Redacts secrets in texts, including those that become known later, such as login tokens and keys from a keyring. */
export class LearningRedactor implements TextRedactor {
  readonly #rules: RedactionRules;
  readonly #secrets: string[];
  #redactor: TextRedactor;
  #modelRedactor: TextRedactor | undefined;

  constructor(rules: RedactionRules) {
    this.#rules = rules;
    this.#secrets = [...rules.secrets];
    this.#redactor = createTextRedactor(rules);
  }

  /** All exact secrets. Learned ones are added to this same array. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  learn(secret: string): void {
    if (this.#secrets.includes(secret)) return;
    const configuredCount = this.#rules.secrets.length;
    if (this.#secrets.length === configuredCount + maxLearned) this.#secrets.splice(configuredCount, 1);
    this.#secrets.push(secret);
    this.#redactor = createTextRedactor({ ...this.#rules, secrets: this.#secrets });
    this.#modelRedactor = undefined;
  }

  /**
   * Masks secrets in a tool's output before a model reads it: known values, and shapes if they are enabled. Values
   * behind names stay, because the model has to be able to edit the code they are in.
   */
  maskOutput(text: string): string {
    this.#modelRedactor ??= createTextRedactor({ ...this.#rules, secrets: this.#secrets, names: [] });
    if (!this.#modelRedactor.suspects(JSON.stringify(text))) return text;
    return this.#modelRedactor.redact(text, () => undefined);
  }

  suspects(json: string): boolean {
    return this.#redactor.suspects(json);
  }

  redact(text: string, onSecret: OnSecret): string {
    return this.#redactor.redact(text, onSecret);
  }

  redactKnown(text: string, onSecret: OnSecret): string {
    return this.#redactor.redactKnown(text, onSecret);
  }

  isSecretField(name: string, value: string): boolean {
    return this.#redactor.isSecretField(name, value);
  }
}
