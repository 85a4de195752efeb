import type { Config } from "../../messages/config.js";
import { isRecord } from "../../base/is-record.js";
import type { Table } from "../../messages/written-config.js";

/** Configurations put one over the other: of each setting what was said last. */
export function mergedConfig(layers: readonly Config[]): Config {
  return layers.reduce<Table>(over, {});
}

function over(below: Table, above: Table): Table {
  const entries = Object.entries(above).filter(([, value]) => value !== undefined);
  return {
    ...below,
    ...Object.fromEntries(
      entries.map(([key, value]) => {
        const other = below[key];
        return [key, isRecord(value) && isRecord(other) ? over(other, value) : value];
      }),
    ),
  };
}
