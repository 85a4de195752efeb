import type { McpServerEntries } from "../messages/mcp-config.js";
import { mcpSecrets } from "./mcp-secrets.js";
import { createRedactor, secretsOf } from "./redact.js";

/** For what servers write and why they fail: whoever named them, their secrets are in no text about them. */
export function mcpRedactor(
  servers: McpServerEntries,
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  return createRedactor([...mcpSecrets(servers, env), ...secretsOf(env)]);
}
