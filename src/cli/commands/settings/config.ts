import { visible } from "../../../base/text/visible.js";
import { configPath } from "../../../config/files/config-file.js";
import type { ConfigFlags } from "../../../config/load-config.js";
import { nearestSetting } from "../../../config/settings/nearest-setting.js";
import {
  configKeys,
  asBoolean,
  type ConfigKey,
  type ConfigValue,
  nestedSetting,
  settingValue,
  tableKeys,
  type LeafValue,
} from "../../../config/settings/setting-keys.js";
import { ProviderName, type ProviderEntry } from "../../../messages/settings/config.js";
import { settingRows } from "../../../messages/settings/settings-table.js";
import { exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printLine, printResult } from "../../context.js";
import { watchSignals } from "../../terminal/interruption.js";
import { readSecret } from "../../terminal/read-input.js";
import { changeConfig } from "./change-config.js";
import { effectiveConfig, sourceText, hiddenValue, valueText } from "./effective-config.js";
import { checkKnownProvider } from "./set-provider.js";

/** Also accepts `provider.<name>`, which may hold the same table. */
const providerSetting = /^providers?\.([a-z][a-z0-9-]{0,63})\.(apiKey|baseUrl|keyring)$/;

/** Settings by their names in the source documents and by their short names. */
const otherNames: ReadonlyMap<string | undefined, string> = new Map(
  settingRows.flatMap(({ key, otherName, shortName }) =>
    [otherName, shortName].flatMap((name) => (name === undefined ? [] : [[name, key] as const])),
  ),
);

const usage = "Usage: cody config [get KEY | set KEY VALUE | unset KEY | path] [--explain]";

export async function configCommand(context: ContextOf<"config">): Promise<number> {
  const [action, key, value] = context.args;
  switch (action) {
    case undefined:
      return context.flags.explain ? await explain(context) : await showAll(context);
    case "path":
      return await showPath(context);
    case "get":
      return await showOne(context, readableKey(key));
    case "set":
      return await change(context, checkedKey(key), value);
    case "unset":
      return await unsetKey(context, checkedKey(key));
    default:
      throw usageError(`Unknown action '${action}'`, usage);
  }
}

/**
 * Whether a setting is in a table with user-defined names. `get` reads it by path; it is changed in the file itself.
 * The fields of a provider are the exception: see `providerSetting`.
 */
function isInTable(key: string): boolean {
  return tableKeys.some((table) => table !== "providers" && key.startsWith(`${table}.`) && key !== `${table}.`);
}

async function showAll(context: ContextOf<"config">): Promise<number> {
  const { settings, show } = await effectiveConfig(context);
  const rows = [...settings].map(([key, { value, source }]) => ({
    key,
    source,
    // Lists every setting, also those without a value.
    value: value === undefined ? null : show(key, value),
  }));
  const lines = rows.map(({ key, value, source }) => `${visible(key)} = ${textOf(value)}  (${source})`);
  const values = Object.fromEntries(rows.map(({ key, value }) => [key, value]));
  const sources = Object.fromEntries(rows.map(({ key, source }) => [key, source]));
  await printResult(context, { text: lines.join("\n"), json: { values, sources } });
  return 0;
}

/** For each setting that is set, lists all its sources; the effective one comes first. */
async function explain(context: ContextOf<"config">): Promise<number> {
  const { settings, sources, show } = await effectiveConfig(context);
  const others = [...sources.keys()].filter((key) => !settings.has(key)).toSorted();
  const explained = [...settings.keys(), ...others].flatMap((key) => {
    const places = sources.get(key)?.map((one) => ({ source: one.source, value: valueText(show(key, one.value)) }));
    const value = settings.get(key)?.value;
    return places === undefined ? [] : [{ key, value: value === undefined ? null : show(key, value), said: places }];
  });
  const lines = explained.flatMap(({ key, value, said: places }) => [
    `${visible(key)} = ${textOf(value)}`,
    ...places.map((one) => `  ${sourceText(context, one.source, key)}: ${visible(one.value)}`),
  ]);
  const text = lines.length === 0 ? "All settings have their default values." : lines.join("\n");
  await printResult(context, { text, json: explained });
  return 0;
}

/** On one line, so that a value cannot look like another setting. */
function textOf(value: LeafValue | null): string {
  return value === null ? "(not set)" : visible(valueText(value));
}

async function showPath(context: ContextOf<"config">): Promise<number> {
  const path = await configPath(context.home);
  await printResult(context, { text: path, json: path });
  return 0;
}

async function showOne(context: ContextOf<"config">, key: string): Promise<number> {
  const { settings, show } = await effectiveConfig(context, providerNamed(key));
  const found = settings.get(key)?.value;
  if (found === undefined) {
    if (context.flags.json) await printLine(context, "null");
    await context.tell(`${key} is not set`);
    return exitCodes.failed;
  }
  // A single setting is printed unmasked, because scripts need the actual value.
  const value = configKeys.some((known) => known === key) ? found : show(key, found);
  await printResult(context, { text: valueText(value), json: value });
  return 0;
}

async function change(context: ContextOf<"config">, key: SettingKey, text: string | undefined): Promise<number> {
  if (text === undefined) throw usageError(`Missing value for ${key}`, usage);
  if (isSecret(key)) return await changeSecret(context, key, text);
  const value = valueOf(key, text);
  if (key === "provider" && ProviderName.safeParse(text).success) await checkKnownProvider(context, text);
  await changeConfig(context, changeOf(key, value));
  await printResult(context, { text: `${key} = ${text}`, json: { [key]: value } });
  return 0;
}

/** A dash means stdin: arguments are visible in the shell's history and in the process list. */
async function changeSecret(context: ContextOf<"config">, key: SettingKey, text: string): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const secret = text === "-" ? await readSecret(context, key, interruption) : text;
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  if (secret === "") throw usageError("No key on stdin");
  context.hide([secret]);
  await changeConfig(context, changeOf(key, secret));
  await printResult(context, { text: `${key} = ${hiddenValue}`, json: { [key]: hiddenValue } });
  if (text !== "-")
    await context.tell(`The key may be stored in your shell history. To type it instead: cody config set ${key} -`);
  return 0;
}

async function unsetKey(context: ContextOf<"config">, key: SettingKey): Promise<number> {
  await changeConfig(context, changeOf(key, undefined));
  await printResult(context, { text: `✓ Unset: ${key}`, json: { [key]: null } });
  return 0;
}

type ProviderKey = `providers.${string}.${keyof ProviderEntry}`;

type SettingKey = ConfigKey | ProviderKey;

/** Settings that can be shown, which are more than those that can be set. */
function readableKey(text: string | undefined): string {
  return text !== undefined && isInTable(text) ? text : checkedKey(text);
}

function checkedKey(text: string | undefined): SettingKey {
  const key = configKeys.find((candidate) => candidate === (otherNames.get(text) ?? text)) ?? providerKey(text);
  if (key !== undefined) return key;
  const known = [...configKeys, ...["apiKey", "baseUrl", "keyring"].map((field) => `providers.<name>.${field}`)];
  const keys = `Keys: ${known.join(", ")}`;
  if (text === undefined) throw usageError("Missing setting name", keys);
  if (isInTable(text))
    throw usageError(
      `${text} cannot be changed with cody config; edit the config file`,
      "Show its path: cody config path",
    );
  const near = nearestSetting(text);
  if (near === text)
    throw usageError(
      `${text} is a group of settings`,
      "Set one of them, or edit the config file: cody config path",
      keys,
    );
  throw usageError(`Unknown key '${text}'`, ...(near === undefined ? [] : [`Did you mean ${near}?`]), keys);
}

function providerKey(text = ""): ProviderKey | undefined {
  const [, name, field] = providerSetting.exec(text) ?? [];
  return name === undefined ? undefined : `providers.${name}.${field as keyof ProviderEntry}`;
}

/** The provider a setting belongs to. */
function providerNamed(key: string): string | undefined {
  return providerSetting.exec(key)?.[1];
}

function isSecret(key: SettingKey): boolean {
  return key.endsWith(".apiKey");
}

/** Invalid values are rejected on saving, with the allowed ones. */
function valueOf(key: SettingKey, text: string): ConfigValue {
  const known = configKeys.find((candidate) => candidate === key);
  if (known !== undefined) return settingValue(known, text);
  return key.endsWith(".keyring") ? asBoolean(text) : text;
}

/** Without a value, the setting is removed. */
function changeOf(key: SettingKey, value: ConfigValue | undefined): ConfigFlags {
  return nestedSetting(key, value);
}
