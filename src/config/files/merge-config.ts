import type { Config } from "../../messages/settings/config.js";
import { isRecord } from "../../base/is-record.js";
import type { Table } from "./written-config.js";

/** Merges configurations in order: for each setting, the last layer that defines it wins. */
export function mergedConfig(layers: readonly Config[]): Config {
  return layers.reduce<Table>(mergeTables, {});
}

function mergeTables(below: Table, above: Table): Table {
  const entries = Object.entries(above).filter(([, value]) => value !== undefined);
  return {
    ...below,
    ...Object.fromEntries(
      entries.map(([key, value]) => {
        const other = below[key];
        return [key, isRecord(value) && isRecord(other) ? mergeTables(other, value) : value];
      }),
    ),
  };
}
