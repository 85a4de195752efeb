import { mask } from "../../messages/redaction.js";
import { isSecretValue } from "./secret-value.js";
import { valueAt, wordEnd } from "./value-at.js";

/** Finds the values that stand behind certain names in texts: `api_key=…`, `"password": "…"`, `X-Api-Key: …`. */
export interface NamedValues {
  /** Finds at least all that `redact` would find something in, in a text that was escaped any number of times. */
  readonly hint: string;
  redact(text: string, onFound: (value: string) => void): string;
  /** Whether this is such a name, or ends in one. */
  isName(name: string): boolean;
  /** Whether a value of this name is one to hide. */
  isSecret(name: string, value: string): boolean;
}

const scheme = /(?:bearer|basic|token|digest)[ \t]{1,4}/iy;
const restOfLine = 40;

/** Names are found whatever stands before them and however their words are joined; undefined when there are none. */
export function namedValues(names: readonly string[]): NamedValues | undefined {
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
        const from = behindScheme(text, at);
        const value = valueAt(text, from);
        if (value === undefined) continue;
        const rest = text.slice(value.to, value.to + restOfLine).split("\n", 1)[0] ?? "";
        const isTight = from > at || (sign === "=" && before === "" && after === "");
        if (!isSecretValue(value, { name: bare(name), isTight, rest })) continue;
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
      return isSecretValue({ text: value, isQuoted: true }, { name: bare(found), isTight: false, rest: "" });
    },
  };
}

/** `api_key` is also `apiKey`, `api-key` and `API KEY`. */
function patternOf(name: string): string {
  return name
    .split(/[_\-. ]+|(?<=[a-z0-9])(?=[A-Z])/)
    .filter((word) => word !== "")
    .join("[_\\-. ]?");
}

/** In a header the word before the key says what it is. */
function behindScheme(text: string, at: number): number {
  scheme.lastIndex = at;
  return scheme.test(text) ? scheme.lastIndex : at;
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
