import type { ConfigFlags, ConfigKey } from "../config/load-config.js";
import { usageError } from "./command-error.js";

export type ConfigValue = string | boolean | number | readonly string[];

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
  toolEnv: asNames,
  "persistence.enabled": asBoolean,
  "persistence.layout": asText,
  "persistence.directory": asText,
} satisfies Record<ConfigKey, (text: string) => ConfigValue>;

export const configKeys = Object.keys(readers) as ConfigKey[];

export function checkedKey(text: string | undefined): ConfigKey {
  const key = configKeys.find((candidate) => candidate === text);
  if (key !== undefined) return key;
  throw usageError(text === undefined ? "A key is missing" : `Unknown key '${text}'`, `Keys: ${configKeys.join(", ")}`);
}

/** What does not fit is refused where it is saved, with what is allowed. */
export function valueOf(key: ConfigKey, text: string): ConfigValue {
  return readers[key](text);
}

export function changeOf(key: ConfigKey, value: ConfigValue): ConfigFlags {
  const [outer = key, inner] = key.split(".");
  return { [outer]: inner === undefined ? value : { [inner]: value } };
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

/** Separated by commas; an empty text is none. */
function asNames(text: string): string[] {
  return text.trim() === "" ? [] : text.split(",").map((name) => name.trim());
}
