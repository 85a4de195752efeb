import { isRecord } from "../../base/is-record.js";
import type { Config } from "../../messages/settings/config.js";
import {
  type ConfigKey,
  type SettingGroup,
  type SettingRow,
  settingRows,
  settingsTable,
} from "../../messages/settings/settings-table.js";
import type { Table } from "../files/written-config.js";
import { variableOf } from "./config-names.js";

export type { ConfigKey } from "../../messages/settings/settings-table.js";
export type ConfigValue = string | boolean | number | readonly string[];

/** Settings with a single value, in the order of the table. */
export const configKeys: readonly ConfigKey[] = settingRows.flatMap(({ key, kind }) =>
  kind === "table" ? [] : [key as ConfigKey],
);

/** The environment variables of a setting, in order of precedence: its own, and that of its short name. */
export function variablesOf(key: ConfigKey): string[] {
  const { shortName }: SettingRow = settingsTable[key];
  return [key, ...(shortName === undefined ? [] : [shortName])].map(variableOf);
}

/** Tables whose keys are chosen by the user. */
export const tableKeys: readonly string[] = settingRows.flatMap(({ key, kind }) => (kind === "table" ? [key] : []));

/** The objects that contain settings: `turnLimits` for `turnLimits.steps`. */
export const settingGroups: readonly SettingGroup[] = [
  ...new Set(configKeys.filter((key) => key.includes(".")).map((key) => key.split(".")[0] as SettingGroup)),
];

/** Convert a text from the command line or the environment to the value of a setting. */
const readers = {
  text: asText,
  number: asNumber,
  "number-or-false": asNumberOrNone,
  boolean: asBoolean,
  list: asNames,
} satisfies Record<Exclude<SettingRow["kind"], "table">, (text: string) => ConfigValue>;

/** An invalid text is returned as it is, so that the schema rejects it with the allowed values. */
export function settingValue(key: ConfigKey, text: string): ConfigValue {
  return readers[settingsTable[key].kind](text);
}

/** A configuration that contains only this setting. */
export function nestedSetting(key: string, value: unknown): Config {
  return key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Config;
}

export function settingIn(config: object, key: string): ConfigValue | undefined {
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

/** A value anywhere in a configuration; a table only if it is empty. */
export type LeafValue = ConfigValue | Table;

/** All values of a configuration by path. Tables are descended into; a list is one value. */
export function settingLeaves(config: object): ReadonlyMap<string, LeafValue> {
  return new Map(leavesIn(config as Table, ""));
}

function leavesIn(table: Table, path: string): (readonly [string, LeafValue])[] {
  return Object.entries(table).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const key = path + name;
    const isWalked = isRecord(value) && Object.keys(value).length > 0;
    return isWalked ? leavesIn(value, `${key}.`) : [[key, value as LeafValue] as const];
  });
}
