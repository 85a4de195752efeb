import { mask, type RedactionRules } from "../../base/text/redaction.js";
import type { Config } from "../../messages/settings/config.js";
import type { McpServerEntries, McpServerEntry } from "../../messages/settings/mcp-config.js";
import { configuredKeys } from "../providers/vendors.js";
import { effectiveSetting } from "../settings/effective-settings.js";

const minChars = 8;

const minWordChars = 20;

/** Headers that never contain a secret. */
const plainHeaders: ReadonlySet<string> = new Set(["accept", "content-type", "user-agent"]);

/** Additional name endings that mark a secret in a server's configuration. */
const secretWord = /(?:^|_)(?:KEY|PAT|AUTH|BEARER|JWT|COOKIE)$/i;

/** Shorter strings occur in texts by chance. */
export const minSecretChars = 6;

/** The minimum length of a line of a longer secret that is masked on its own. */
const minLineChars = 16;

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

/**
 * The forms in which a secret may appear in a text: as it is, escaped, or encoded alone or together with its
 * surroundings.
 */
export function encodingsOf(secret: string): string[] {
  const json = escapeJson(secret);
  const base64 = [0, 1, 2].map((shift) => base64At(secret, shift)).filter((form) => form.length >= minSecretChars);
  const url = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [secret, json, ...base64, ...url, ...uriForms(secret)];
}

/** Adds the forms found in files: escaped twice, in hexadecimal, and line by line for a secret of several lines. */
export function allEncodingsOf(secret: string): string[] {
  const json = escapeJson(secret);
  const hex = Buffer.from(secret).toString("hex");
  const slashed = secret.replaceAll("/", "\\/");
  const lines = secret.includes("\n") ? linesOf(secret) : [];
  return [...encodingsOf(secret), escapeJson(json), slashed, hex, hex.toUpperCase(), ...lines];
}

/** Skips the first and last line of a PEM key, which only mark it as one. */
function linesOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line.length >= minLineChars && !line.startsWith("-----"));
}

/** The text as it appears inside a JSON string. */
export function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The base64 characters of a text that begins at this offset in a group of three bytes, whatever surrounds it. */
function base64At(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]);
  return bytes.toString("base64").slice(shift === 0 ? 0 : shift + 1, Math.floor((bytes.length * 8) / 6));
}

function uriForms(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, lower, encoded.replaceAll("%20", "+")];
}

type Env = Readonly<Record<string, string | undefined>>;

/** The secrets in the servers' configuration, and those in our environment that the configuration refers to. */
export function mcpSecrets(servers: McpServerEntries = {}, ours: Env = {}): string[] {
  return Object.values(servers).flatMap((entry) =>
    "url" in entry ? urlSecrets(entry, ours) : commandSecrets(entry, ours),
  );
}

/** Returns x for `--token x`, `--token=x` or `TOKEN=x`; undefined if there is no secret. */
export function secretOfArgument(args: readonly string[], index: number): string | undefined {
  const [argument = "", before = ""] = [args[index], args[index - 1]];
  if (before.startsWith("-") && !argument.startsWith("-") && isSecretFlag(before)) return argument;
  const [, name = "", value = ""] = /^([^=]+)=([^]+)$/.exec(argument) ?? [];
  return value !== "" && (isSecretFlag(name) || isSecretVariable(name)) ? value : undefined;
}

type CommandEntry = Extract<McpServerEntry, { command: string }>;

type UrlEntry = Extract<McpServerEntry, { url: string }>;

function commandSecrets({ args = [], env = {}, env_vars: names = [] }: CommandEntry, ours: Env): string[] {
  const variables = { ...Object.fromEntries(names.map((name) => [name, ours[name]])), ...env };
  const named = Object.entries(variables).flatMap(([name, value = ""]) => (isSecretVariable(name) ? [value] : []));
  const flagSecrets = args.flatMap((_, index) => secretOfArgument(args, index) ?? []);
  return [...new Set([...secretsOf(variables), ...named, ...flagSecrets])].filter((secret) => secret !== "");
}

function urlSecrets(entry: UrlEntry, ours: Env): string[] {
  const named = [entry.bearer_token_env_var ?? "", ...Object.values(entry.env_http_headers ?? {})];
  const query = URL.canParse(entry.url) ? [...new URL(entry.url).searchParams] : [];
  return [
    ...named.flatMap((name) => ours[name]?.trim() || []),
    ...headerSecrets(entry.http_headers),
    ...query.flatMap(([name, value]) => (isSecretFlag(name) ? [value] : [])),
  ];
}

/** For `Bearer x`, only the second word is secret. */
function headerSecrets(headers: Readonly<Record<string, string>> = {}): string[] {
  const sensitive = Object.entries(headers).filter(([name]) => !plainHeaders.has(name.toLowerCase()));
  return sensitive.map(([, value]) => value.replace(/^\S+ (?=\S+$)/, ""));
}

function isSecretVariable(name: string): boolean {
  return secretWord.test(name) || secretsOf({ [name]: "x" }).length > 0;
}

function isSecretFlag(flag: string): boolean {
  const name = flag.replace(/^-+/, "").replaceAll("-", "_");
  return isSecretName(name) || secretWord.test(name);
}

/** Builds the redaction rules for everything this run writes to disk. */
export function redactionRules(
  { providers, mcp_servers: servers, redaction }: Pick<Config, "providers" | "mcp_servers" | "redaction">,
  env: Readonly<Record<string, string | undefined>>,
): RedactionRules {
  return {
    secrets: [
      ...new Set([
        ...configuredKeys(providers),
        ...[...mcpSecrets(servers, env), ...secretsOf(env)].filter(isDistinct),
      ]),
    ],
    names: effectiveSetting({ redaction }, "redaction.sensitivePatterns"),
    shapes: effectiveSetting({ redaction }, "redaction.shapes"),
  };
}

/** A variable may hold `postgres` as a password, and that word must not be masked where it means something else. */
function isDistinct(value: string): boolean {
  return value.length >= (/^[A-Za-z]+$/.test(value) ? minWordChars : minChars) && !value.startsWith("/");
}
