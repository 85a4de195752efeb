import type { Config } from "./config.js";

/**
 * A configuration as files and callers may write it: `provider` may hold what `providers` is for,
 * `history.saveHistory` is another name of `persistence.enabled`, and `persistence.exportDirectory` of
 * `export.directory`.
 */
export interface WrittenConfig extends Omit<Config, "provider" | "history" | "persistence"> {
  persistence?: (Config["persistence"] & { exportDirectory?: string | undefined }) | undefined;
  provider?: Config["provider"] | Config["providers"];
  history?: (Config["history"] & { saveHistory?: boolean | undefined }) | undefined;
}

/** The same as `Config` has it; what is wrong is left for the schema to refuse. Where both are said, our own name counts. */
export function ownShape(written: unknown): unknown {
  return isTable(written) ? ownProviders(ownHistory(ownExport(written))) : written;
}

function ownProviders(written: Table): Table {
  if (!isTable(written["provider"])) return written;
  const { provider, providers, ...others } = written;
  return { ...others, providers: isTable(providers) ? combined(provider, providers) : (providers ?? provider) };
}

function ownHistory(written: Table): Table {
  const { history, persistence = {}, ...others } = written;
  if (!isTable(history) || !("saveHistory" in history) || !isTable(persistence)) return written;
  const { saveHistory: enabled, ...rest } = history;
  const left = Object.keys(rest).length > 0 ? { history: rest } : {};
  return { ...others, ...left, persistence: { enabled, ...persistence } };
}

function ownExport(written: Table): Table {
  const { persistence, export: said = {}, ...others } = written;
  if (!isTable(persistence) || !("exportDirectory" in persistence) || !isTable(said)) return written;
  const { exportDirectory: directory, ...rest } = persistence;
  const left = Object.keys(rest).length > 0 ? { persistence: rest } : {};
  return { ...others, ...left, export: { directory, ...said } };
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
