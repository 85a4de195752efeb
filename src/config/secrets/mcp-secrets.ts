import type { McpServerEntries, McpServerEntry } from "../../messages/mcp-config.js";
import { isSecretName, secretsOf } from "./redact.js";

type Env = Readonly<Record<string, string | undefined>>;

/** Headers that never contain a secret. */
const plainHeaders: ReadonlySet<string> = new Set(["accept", "content-type", "user-agent"]);
/** Additional name endings that mark a secret in a server's configuration. */
const secretWord = /(?:^|_)(?:KEY|PAT|AUTH|BEARER|JWT|COOKIE)$/i;

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
  const given = { ...Object.fromEntries(names.map((name) => [name, ours[name]])), ...env };
  const named = Object.entries(given).flatMap(([name, value = ""]) => (isSecretVariable(name) ? [value] : []));
  const behind = args.flatMap((_, index) => secretOfArgument(args, index) ?? []);
  return [...new Set([...secretsOf(given), ...named, ...behind])].filter((secret) => secret !== "");
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
  const telling = Object.entries(headers).filter(([name]) => !plainHeaders.has(name.toLowerCase()));
  return telling.map(([, value]) => value.replace(/^\S+ (?=\S+$)/, ""));
}

function isSecretVariable(name: string): boolean {
  return secretWord.test(name) || secretsOf({ [name]: "x" }).length > 0;
}

function isSecretFlag(flag: string): boolean {
  const name = flag.replace(/^-+/, "").replaceAll("-", "_");
  return isSecretName(name) || secretWord.test(name);
}
