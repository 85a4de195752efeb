import type { Config } from "./config.js";

/**
 * A configuration as files and callers may write it: `provider` may hold what `providers` is for,
 * `history.saveHistory` is another name of `persistence.enabled`, and `history.sensitivePatterns` of
 * `redaction.sensitivePatterns`.
 */
export interface WrittenConfig extends Omit<Config, "provider" | "history"> {
  provider?: Config["provider"] | Config["providers"];
  history?:
    (Config["history"] & { saveHistory?: boolean | undefined; sensitivePatterns?: string[] | undefined }) | undefined;
}

/** The same as `Config` has it; what is wrong is left for the schema to refuse. Where both are said, our own name counts. */
export function ownShape(written: unknown): unknown {
  return isTable(written) ? ownProviders(historyNames.reduce(renamed, written)) : written;
}

function ownProviders(written: Table): Table {
  if (!isTable(written["provider"])) return written;
  const { provider, providers, ...others } = written;
  return { ...others, providers: isTable(providers) ? combined(provider, providers) : (providers ?? provider) };
}

/** What stands in `history` there, and where it stands here. */
const historyNames = [
  { name: "saveHistory", table: "persistence", own: "enabled" },
  { name: "sensitivePatterns", table: "redaction", own: "sensitivePatterns" },
] as const;

function renamed(written: Table, { name, table, own }: (typeof historyNames)[number]): Table {
  const { history, [table]: target = {}, ...others } = written;
  if (!isTable(history) || !(name in history) || !isTable(target)) return written;
  const { [name]: value, ...rest } = history;
  const left = Object.keys(rest).length > 0 ? { history: rest } : {};
  return { ...others, ...left, [table]: { [own]: value, ...target } };
}

export type Table = Readonly<Record<string, unknown>>;

function combined(below: Table, above: Table): Table {
  const entries = Object.entries(above).map(([name, entry]) => {
    const other = below[name];
    return [name, isTable(entry) && isTable(other) ? { ...other, ...entry } : entry];
  });
  return { ...below, ...Object.fromEntries(entries) };
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
