import type { Config } from "../../messages/config.js";
import type { RedactionRules } from "../../base/text/redaction.js";
import { mcpSecrets, secretsOf } from "./redact.js";
import { configuredKeys } from "../providers/vendors.js";
import { effectiveSetting } from "../settings/effective-settings.js";

const minChars = 8;
const minWordChars = 20;

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
