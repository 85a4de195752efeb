import { mask } from "../../base/text/redaction.js";
import { encodingsOf, minSecretChars } from "./secret-forms.js";

/**
 * Each pattern examines a character a bounded number of times: its prefix is either a fixed word or, where a run of
 * characters follows, cannot start inside that run.
 */
const shapes: readonly [RegExp, string][] = [
  // A header's value extends to the closing quote or the end of the line.
  [
    /((?:authorization|cookie|x-api-key)[\\"']{0,4}\s{0,10}[:=]\s{0,10})(?:"[^"\r\n]*"|'[^'\r\n]*'|[^"'\r\n][^\r\n]*)/gi,
    `$1${mask}`,
  ],
  // A single letter is the beginning of a sentence about the field.
  [
    /((?:passw(?:or)?d|api[_-]?key|secret|(?:access|refresh|auth|id)_token)[\\"']{0,4}\s{0,10}[:=]\s{0,10})(?:"[^"\r\n]*"|'[^'\r\n]*'|[^\s"'&,;]{2,})/gi,
    `$1${mask}`,
  ],
  [/(\bbearer\s{1,10})[\w.~+/=-]{6,}/gi, `$1${mask}`],
  [/(:\/\/[^\s/@:]{0,200}:)[^\s/@]{1,200}@/g, `$1${mask}@`],
  [/(?<![A-Za-z0-9])sk-[\w-]{8,}/g, mask],
  [/(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_)\w{16,}/g, mask],
  [/(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, mask],
];
/** `PWD` is the working directory, and a name that ends in `CREDENTIALS` is mostly the path of a file. */
const secretVariable =
  /(?:^|_)(?:API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS)$|^PGPASSWORD$/i;
const credentials = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/@:]{0,200}:([^\s@]{1,500})@[^\s@]+$/i;

/** Creates a function that masks known secrets in a text, and anything with the shape of a secret. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = new Set(secrets.filter((secret) => secret.length >= minSecretChars).flatMap(encodingsOf));
  const longestFirst = [...known].toSorted((a, b) => b.length - a.length);
  return (text) => {
    const exact = longestFirst.reduce((rest, form) => rest.replaceAll(form, mask), text);
    return shapes.reduce((rest, [shape, replacement]) => rest.replaceAll(shape, replacement), exact);
  };
}

/** The values of variables with secret names, and the passwords inside variables that hold URLs. */
export function secretsOf(env: Readonly<NodeJS.ProcessEnv>): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (secretVariable.test(name)) return value === "" ? [] : [value];
    const password = credentials.exec(value)?.[1];
    return password === undefined ? [] : [...new Set([password, decoded(password)])];
  });
}

/** Whether a field's name marks its value as secret. */
export function isSecretName(name: string): boolean {
  return /passw(?:or)?d|secret|api_?key|authorization|cookie|(?:^|_)token$|[a-z]Token$/i.test(name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
