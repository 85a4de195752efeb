import { chmod, copyFile, mkdir } from "node:fs/promises";
import type { Config, ProviderEntry } from "../messages/config.js";
import { check } from "../messages/parse.js";
import { parseConfig, readConfigText, salvageConfig } from "./config-file.js";
import { withFileLock } from "./file-lock.js";
import type { ConfigFlags } from "./load-config.js";
import { homePaths } from "./paths.js";
import { writeAtomic } from "./write-atomic.js";

export interface SavedConfig {
  readonly config: Config;
  /** Where a configuration that did not parse was copied before it was replaced. */
  readonly setAside?: string;
}

/** Changes some settings and keeps the others; a setting given as undefined is taken out. */
export async function saveConfig(home: string, change: ConfigFlags): Promise<SavedConfig> {
  const path = homePaths(home).config;
  await mkdir(home, { recursive: true, mode: 0o700 });
  return withFileLock(`${path}.lock`, async () => {
    const { config: old, ...rest } = await readOld(path);
    // Through JSON, which leaves out what is undefined.
    const text = `${JSON.stringify(merged(old, change), null, 2)}\n`;
    const { Config } = await import("../messages/config.js");
    const config = check(Config, JSON.parse(text), "settings");
    await writeAtomic(path, text);
    return { config, ...rest };
  });
}

function merged(old: Config, change: ConfigFlags): ConfigFlags {
  const persistence = { ...old.persistence, ...change.persistence };
  const turnLimits = { ...old.turnLimits, ...change.turnLimits };
  const history = { ...old.history, ...change.history };
  const providers = mergedProviders(old.providers, change.providers);
  return {
    ...old,
    ...change,
    providers: Object.keys(providers).length > 0 ? providers : undefined,
    ...(Object.keys(turnLimits).length > 0 ? { turnLimits } : {}),
    ...(Object.keys(history).length > 0 ? { history } : {}),
    ...(Object.keys(persistence).length > 0 ? { persistence } : {}),
  };
}

/** A provider about which nothing is said any more goes. */
function mergedProviders(
  old: Config["providers"] = {},
  change: Config["providers"] = {},
): Record<string, ProviderEntry> {
  const names = [...new Set([...Object.keys(old), ...Object.keys(change)])];
  const entries = names.map((name) => [name, { ...old[name], ...change[name] }] as const);
  return Object.fromEntries(entries.filter(([, entry]) => Object.values(entry).some((value) => value !== undefined)));
}

/** Saving also mends: a damaged configuration must not stand in the way of the command that replaces it. */
async function readOld(path: string): Promise<SavedConfig> {
  const text = await readConfigText(path);
  if (text === undefined) return { config: {} };
  try {
    return { config: await parseConfig(text) };
  } catch {
    const setAside = `${path}.invalid`;
    await copyFile(path, setAside);
    // There may be keys in it.
    await chmod(setAside, 0o600);
    return { config: await salvageConfig(text), setAside };
  }
}
