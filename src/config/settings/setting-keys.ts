import type { CompactionConfig } from "../../messages/compaction.js";
import type { Config, KnowledgeConfig, TurnLimits } from "../../messages/config.js";

/** Tables of settings. */
type Nested = "persistence" | "turnLimits" | "compaction" | "knowledge" | "history" | "export" | "redaction";

/** The dotted path of a setting that has a single value. */
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

/** Convert a text from the command line or the environment to the value of a setting. */
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

/** An invalid text is returned as it is, so that the schema rejects it with the allowed values. */
export function settingValue(key: ConfigKey, text: string): ConfigValue {
  return readers[key](text);
}

/** A configuration that contains only this setting. */
export function nestedSetting(key: string, value: unknown): Config {
  return key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Config;
}

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

/** `false` means no limit. */
function asNumberOrNone(text: string): number | string | boolean {
  return text === "false" ? false : asNumber(text);
}

/** Splits at commas; an empty text is an empty list. */
function asNames(text: string): string[] {
  return text.trim() === "" ? [] : text.split(",").map((name) => name.trim());
}
