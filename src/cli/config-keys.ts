import type { ConfigFlags, ConfigKey } from "../config/load-config.js";
import { nearest } from "../config/nearest.js";
import type { ProviderEntry } from "../messages/config.js";
import { usageError } from "./command-error.js";

export type ConfigValue = string | boolean | number | readonly string[];
/** A setting of one provider. */
export type ProviderKey = `providers.${string}.${keyof ProviderEntry}`;
export type SettingKey = ConfigKey | ProviderKey;

/** How the text of a command line becomes the value of a setting. */
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
  "turnLimits.approvalSeconds": asNumber,
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

/** Also as the object under `provider` has it. */
const providerSetting = /^providers?\.([a-z][a-z0-9-]{0,63})\.(apiKey|baseUrl)$/;

/** As the source documents call them. */
const otherNames: ReadonlyMap<string | undefined, ConfigKey> = new Map([
  ["history.saveHistory", "persistence.enabled"],
  ["history.sensitivePatterns", "redaction.sensitivePatterns"],
  ["persistence.exportDirectory", "export.directory"],
]);

export function checkedKey(text: string | undefined): SettingKey {
  const key = configKeys.find((candidate) => candidate === (otherNames.get(text) ?? text)) ?? providerKey(text);
  if (key !== undefined) return key;
  const known = [...configKeys, "providers.<name>.apiKey", "providers.<name>.baseUrl"];
  if (text === undefined) throw usageError("A key is missing", `Keys: ${known.join(", ")}`);
  const meant = nearest(text, configKeys);
  const hints = meant === undefined ? [] : [`Did you mean ${meant}?`];
  throw usageError(`Unknown key '${text}'`, ...hints, `Keys: ${known.join(", ")}`);
}

function providerKey(text = ""): ProviderKey | undefined {
  const [, name, field] = providerSetting.exec(text) ?? [];
  return name === undefined ? undefined : `providers.${name}.${field === "apiKey" ? "apiKey" : "baseUrl"}`;
}

/** Whose setting it is. */
export function providerNamed(key: SettingKey): string | undefined {
  return providerSetting.exec(key)?.[1];
}

/** Whether a value is nobody's business. */
export function isSecret(key: SettingKey): boolean {
  return key.endsWith(".apiKey");
}

/** What does not fit is refused where it is saved, with what is allowed. */
export function valueOf(key: SettingKey, text: string): ConfigValue {
  const known = configKeys.find((candidate) => candidate === key);
  return known === undefined ? text : readers[known](text);
}

/** Without a value the setting is taken out. */
export function changeOf(key: SettingKey, value: ConfigValue | undefined): ConfigFlags {
  const nested = key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
  return nested as ConfigFlags;
}

function asText(text: string): string {
  return text;
}

function asBoolean(text: string): boolean | string {
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
