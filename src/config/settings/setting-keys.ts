import type { CompactionConfig } from "../../messages/compaction.js";
import type { Config, KnowledgeConfig, TurnLimits } from "../../messages/config.js";

/** What holds settings and is none itself. */
type Nested = "persistence" | "turnLimits" | "compaction" | "knowledge" | "history" | "export" | "redaction";

/** A setting that has one value, by its path. */
export type ConfigKey =
  | Exclude<keyof Config, Nested | "providers" | "models" | "limits" | "logins" | "mcp_servers">
  | `turnLimits.${keyof TurnLimits}`
  | `compaction.${keyof CompactionConfig}`
  | `knowledge.${keyof KnowledgeConfig}`
  | `redaction.${keyof NonNullable<Config["redaction"]>}`
  | `history.${keyof NonNullable<Config["history"]>}`
  | `export.${keyof NonNullable<Config["export"]>}`
  | `persistence.${keyof NonNullable<Config["persistence"]>}`;

export type ConfigValue = string | boolean | number | readonly string[];

/** How a text from a command line or the environment becomes the value of a setting. */
const readers = {
  provider: asText,
  api: asText,
  model: asText,
  baseUrl: asText,
  auth: asText,
  approvalPolicy: asText,
  sandbox: asText,
  "turnLimits.steps": asNumber,
  "turnLimits.seconds": asNumber,
  "turnLimits.tokens": asNumber,
  "turnLimits.answerBytes": asNumber,
  "turnLimits.turnBytes": asNumber,
  "turnLimits.approvalSeconds": asNumber,
  "turnLimits.identicalFailures": asNumber,
  "compaction.enabled": asBoolean,
  "compaction.strategy": asText,
  "compaction.mode": asText,
  "compaction.ratio": asNumber,
  "compaction.tokenLimit": asNumber,
  "compaction.reserveTokens": asNumber,
  "compaction.keepRecentTokens": asNumber,
  "compaction.keepTurns": asNumber,
  "compaction.userMessageTokens": asNumber,
  "compaction.preserveToolResults": asText,
  "compaction.onFailure": asText,
  "compaction.prompt": asText,
  contextWindow: asNumber,
  systemPrompt: asText,
  instructions: asText,
  "knowledge.enabled": asBoolean,
  "knowledge.injectionBudget": asNumber,
  toolEnv: asNames,
  "redaction.sensitivePatterns": asNames,
  "redaction.shapes": asBoolean,
  "history.maxSize": asNumber,
  "export.directory": asText,
  "persistence.enabled": asBoolean,
  "persistence.layout": asText,
  "persistence.directory": asText,
  "persistence.retentionDays": asNumberOrNone,
  "persistence.maxConversationsPerProject": asNumberOrNone,
  "persistence.maxFileMegabytes": asNumber,
  "persistence.maxBlobMegabytes": asNumber,
} satisfies Record<ConfigKey, (text: string) => ConfigValue>;

export const configKeys = Object.keys(readers) as ConfigKey[];

/** What does not fit is left for the schema to refuse, with what is allowed. */
export function settingValue(key: ConfigKey, text: string): ConfigValue {
  return readers[key](text);
}

/** A configuration in which only this setting is said. */
export function nestedSetting(key: string, value: unknown): Config {
  return key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Config;
}

/** What a configuration says of a setting. */
export function settingIn(config: object, key: ConfigKey): ConfigValue | undefined {
  const found = key
    .split(".")
    .reduce<unknown>((outer, part) => (Object(outer) as Record<string, unknown>)[part], config);
  return found as ConfigValue | undefined;
}

function asText(text: string): string {
  return text;
}

export function asBoolean(text: string): boolean | string {
  return text === "true" || text === "false" ? text === "true" : text;
}

function asNumber(text: string): number | string {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** What has no bound says so. */
function asNumberOrNone(text: string): number | string | boolean {
  return text === "false" ? false : asNumber(text);
}

/** Separated by commas; an empty text is none. */
function asNames(text: string): string[] {
  return text.trim() === "" ? [] : text.split(",").map((name) => name.trim());
}
