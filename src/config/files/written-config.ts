import type { Config } from "../../messages/settings/config.js";
import { isRecord } from "../../base/is-record.js";
import { type OtherNames, settingRows, type ShortNames } from "../../messages/settings/settings-table.js";

/** The groups in which settings may have the names from the source documents, besides our own. */
type OtherPlaces = {
  [G in keyof OtherNames extends infer Key ? (Key extends `${infer Group}.${string}` ? Group : never) : never]?:
    | ((G extends keyof Config ? NonNullable<Config[G]> : unknown) & {
        [K in keyof OtherNames as K extends `${G}.${infer Name}` ? Name : never]?: OtherNames[K] | undefined;
      })
    | undefined;
};

/** The groups whose name alone may hold the value of one of their settings. */
type ShortPlaces = { [G in keyof ShortNames]?: (G extends keyof Config ? Config[G] : never) | ShortNames[G] };

/**
 * A configuration as files and callers may write it: `provider` may hold the table that belongs in `providers`, and
 * some settings may have the names from the source documents, or the short name of their group.
 */
export interface WrittenConfig
  extends Omit<Config, "provider" | keyof OtherPlaces | keyof ShortPlaces>, OtherPlaces, ShortPlaces {
  /** Other programs' name for `mcp_servers`. */
  mcpServers?: Config["mcp_servers"];
  provider?: Config["provider"] | Config["providers"];
}

/**
 * Converts a written configuration to the shape of `Config`. If both names of a setting are present, our own name takes
 * precedence. Invalid values are left for the schema to reject.
 */
export function ownShape(written: unknown): unknown {
  if (!isRecord(written)) return written;
  return ownServers(ownProviders(shortNames.reduce(expanded, otherNames.reduce(renamed, written))));
}

function ownServers(written: Table): Table {
  if (!isRecord(written["mcpServers"])) return written;
  const { mcpServers, mcp_servers: own = {}, ...others } = written;
  return { ...others, mcp_servers: isRecord(own) ? { ...mcpServers, ...own } : own };
}

function ownProviders(written: Table): Table {
  if (!isRecord(written["provider"])) return written;
  const { provider, providers, ...others } = written;
  return { ...others, providers: isRecord(providers) ? combined(provider, providers) : (providers ?? provider) };
}

/** Settings with another name in the source documents, and our place for them. */
const otherNames = settingRows.flatMap(({ key, otherName }) => {
  const [[from, name], [to, own]] = [otherName?.split(".") ?? [], key.split(".")];
  return from === undefined || name === undefined || to === undefined || own === undefined
    ? []
    : [{ from, name, to, own }];
});

/** Settings whose value may be written under the name of their group alone. */
const shortNames = settingRows.flatMap(({ key, shortName }) => {
  const [group, own] = key.split(".");
  return shortName === undefined || group === undefined || own === undefined ? [] : [{ group, own }];
});

function expanded(written: Table, { group, own }: (typeof shortNames)[number]): Table {
  const value = written[group];
  return value === undefined || isRecord(value) ? written : { ...written, [group]: { [own]: value } };
}

function renamed(written: Table, { from, name, to, own }: (typeof otherNames)[number]): Table {
  const { [from]: source, [to]: target = {}, ...others } = written;
  if (!isRecord(source) || !(name in source) || !isRecord(target)) return written;
  const { [name]: value, ...rest } = source;
  const left = Object.keys(rest).length > 0 ? { [from]: rest } : {};
  return { ...others, ...left, [to]: { [own]: value, ...target } };
}

export type Table = Readonly<Record<string, unknown>>;

function combined(below: Table, above: Table): Table {
  const entries = Object.entries(above).map(([name, entry]) => {
    const other = below[name];
    return [name, isRecord(entry) && isRecord(other) ? { ...other, ...entry } : entry];
  });
  return { ...below, ...Object.fromEntries(entries) };
}
