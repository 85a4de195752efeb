import type { ConfigFlags } from "../../../config/load-config.js";
import { nearestSetting } from "../../../config/settings/nearest-setting.js";
import {
  asBoolean,
  type ConfigKey,
  configKeys,
  type ConfigValue,
  nestedSetting,
  settingValue,
} from "../../../config/settings/setting-keys.js";
import type { ProviderEntry } from "../../../messages/config.js";
import { usageError } from "../../command-error.js";

/** A setting of one provider. */
export type ProviderKey = `providers.${string}.${keyof ProviderEntry}`;
export type SettingKey = ConfigKey | ProviderKey;

/** Also as the object under `provider` has it. */
const providerSetting = /^providers?\.([a-z][a-z0-9-]{0,63})\.(apiKey|baseUrl|keyring)$/;

/** As the source documents call them. */
const otherNames: ReadonlyMap<string | undefined, ConfigKey> = new Map([
  ["history.saveHistory", "persistence.enabled"],
  ["history.sensitivePatterns", "redaction.sensitivePatterns"],
  ["persistence.exportDirectory", "export.directory"],
  ["storage.layout", "persistence.layout"],
]);

/** What stands in a table by a name that is not ours: it can be looked at by its path, and is changed in the file. */
const inTable = /^(?:models|limits|logins|mcp_servers)\../;

/** A setting that can be shown, which are more than can be set one by one. */
export function readableKey(text: string | undefined): string {
  return text !== undefined && inTable.test(text) ? text : checkedKey(text);
}

export function checkedKey(text: string | undefined): SettingKey {
  const key = configKeys.find((candidate) => candidate === (otherNames.get(text) ?? text)) ?? providerKey(text);
  if (key !== undefined) return key;
  const known = [...configKeys, ...["apiKey", "baseUrl", "keyring"].map((field) => `providers.<name>.${field}`)];
  const keys = `Keys: ${known.join(", ")}`;
  if (text === undefined) throw usageError("A key is missing", keys);
  if (inTable.test(text))
    throw usageError(`${text} is changed in the configuration itself`, "It is here: cody config path");
  const near = nearestSetting(text);
  if (near === text)
    throw usageError(`${text} holds several settings`, "To see and change them: cody config path", keys);
  throw usageError(`Unknown key '${text}'`, ...(near === undefined ? [] : [`Did you mean ${near}?`]), keys);
}

function providerKey(text = ""): ProviderKey | undefined {
  const [, name, field] = providerSetting.exec(text) ?? [];
  return name === undefined ? undefined : `providers.${name}.${field as keyof ProviderEntry}`;
}

/** Whose setting it is. */
export function providerNamed(key: string): string | undefined {
  return providerSetting.exec(key)?.[1];
}

/** Whether a value is nobody's business. */
export function isSecret(key: SettingKey): boolean {
  return key.endsWith(".apiKey");
}

/** What does not fit is refused where it is saved, with what is allowed. */
export function valueOf(key: SettingKey, text: string): ConfigValue {
  const known = configKeys.find((candidate) => candidate === key);
  if (known !== undefined) return settingValue(known, text);
  return key.endsWith(".keyring") ? asBoolean(text) : text;
}

/** Without a value the setting is taken out. */
export function changeOf(key: SettingKey, value: ConfigValue | undefined): ConfigFlags {
  return nestedSetting(key, value);
}
