import type { McpServerEntries } from "../messages/mcp-config.js";
import { secretsOf } from "./redact.js";

/** Headers that say what is sent, and hide nothing. */
const plainHeaders: ReadonlySet<string> = new Set(["accept", "content-type", "user-agent"]);

/** What a configuration of servers says, or names in our environment, that nobody else should read. */
export function mcpSecrets(servers: McpServerEntries = {}, ours: Readonly<NodeJS.ProcessEnv> = {}): string[] {
  return Object.values(servers).flatMap((entry) => {
    if (!("url" in entry)) return secretsOf(entry.env ?? {});
    const named = [entry.bearer_token_env_var ?? "", ...Object.values(entry.env_http_headers ?? {})];
    return [...named.flatMap((name) => ours[name]?.trim() || []), ...headerSecrets(entry.http_headers)];
  });
}

/** Of `Bearer x` the second word. */
function headerSecrets(headers: Readonly<Record<string, string>> = {}): string[] {
  const telling = Object.entries(headers).filter(([name]) => !plainHeaders.has(name.toLowerCase()));
  return telling.map(([, value]) => value.replace(/^\S+ (?=\S+$)/, ""));
}
