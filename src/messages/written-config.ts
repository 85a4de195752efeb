import type { Config } from "./config.js";

/** A configuration as files and callers may write it: `provider` may hold what `providers` is for. */
export interface WrittenConfig extends Omit<Config, "provider"> {
  provider?: Config["provider"] | Config["providers"];
}

/** The same as `Config` has it; what is wrong is left for the schema to refuse. Where both say something, `providers` does. */
export function ownShape(written: unknown): unknown {
  if (!isTable(written) || !isTable(written["provider"])) return written;
  const { provider, providers, ...others } = written;
  return { ...others, providers: isTable(providers) ? combined(provider, providers) : (providers ?? provider) };
}

type Table = Readonly<Record<string, unknown>>;

function combined(below: Table, above: Table): Table {
  const entries = Object.entries(above).map(([name, entry]) => {
    const other = below[name];
    return [name, isTable(entry) && isTable(other) ? { ...other, ...entry } : entry];
  });
  return { ...below, ...Object.fromEntries(entries) };
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
