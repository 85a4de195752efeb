import { resolve } from "node:path";
import type { McpServerEntry } from "../../messages/settings/mcp-config.js";
import { toolEnv } from "../../tools/exec/tool-env.js";
import type { ServerCommand } from "./transport/stdio-transport.js";

/** The command or URL of a server. */
export type ServerTarget =
  | ({ readonly type: "command" } & ServerCommand)
  | {
      readonly type: "url";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Whether the headers authenticate us, so that no login is used. */
      readonly hasProof: boolean;
    };

type Env = Readonly<Record<string, string | undefined>>;

/** Throws when an environment variable named in the configuration is not set. */
export function resolveServerTarget(entry: McpServerEntry, root: string, env: Env): ServerTarget {
  if ("url" in entry) {
    return { type: "url", url: entry.url, headers: headersOf(entry, env), hasProof: hasAuthorizationHeader(entry) };
  }
  const { command, args = [], cwd = "." } = entry;
  const variables = { ...toolEnv(env, entry.env_vars), ...entry.env };
  return { type: "command", command, args, cwd: resolve(root, cwd), env: variables };
}

export function hasAuthorizationHeader(entry: McpServerEntry): boolean {
  if (!("url" in entry)) return false;
  const { http_headers: headers = {}, env_http_headers: fromEnv = {}, bearer_token_env_var: bearer } = entry;
  const names = Object.keys({ ...headers, ...fromEnv }).map((name) => name.toLowerCase());
  return bearer !== undefined || names.includes("authorization");
}

function headersOf(entry: Extract<McpServerEntry, { url: string }>, env: Env): Record<string, string> {
  const { http_headers: headers = {}, env_http_headers: fromEnv = {}, bearer_token_env_var: bearer } = entry;
  return {
    ...headers,
    ...Object.fromEntries(Object.entries(fromEnv).map(([name, variable]) => [name, valueOf(variable, env)])),
    ...(bearer === undefined ? {} : { Authorization: `Bearer ${valueOf(bearer, env)}` }),
  };
}

function valueOf(variable: string, env: Env): string {
  const value = env[variable]?.trim();
  if (value === undefined || value === "") throw new Error(`the environment variable ${variable} is not set`);
  return value;
}
