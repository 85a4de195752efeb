import { isRecord } from "../../base/is-record.js";
import type { Table } from "../files/written-config.js";
import type { ConfigValue } from "./setting-keys.js";

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
