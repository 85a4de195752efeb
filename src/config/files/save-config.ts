import { chmod, copyFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Config, ProviderEntry } from "../../messages/settings/config.js";
import { InvalidInputError } from "../../base/errors.js";
import { isRecord } from "../../base/is-record.js";
import type { McpServerEntry } from "../../messages/settings/mcp-config.js";
import { check } from "../../base/parse.js";
import { ownShape } from "./written-config.js";
import { configEdits } from "./config-edits.js";
import {
  type ConfigFile,
  configValue,
  defaultName,
  parseConfig,
  readConfigFile,
  salvageConfig,
  withoutUnknownKeys,
} from "./config-file.js";
import { configFormats } from "./config-format.js";
import { withFileLock } from "../file-lock.js";
import type { ConfigFlags } from "../load-config.js";
import { settingGroups } from "../settings/setting-keys.js";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

export interface SavedConfig {
  readonly config: Config;
  /** The path of the backup copy of a configuration that did not parse and was replaced. */
  readonly setAside?: string;
}

/** Settings to change. An MCP server that is set to undefined is removed. */
export interface ConfigChange extends Omit<ConfigFlags, "mcp_servers"> {
  readonly mcp_servers?: Readonly<Record<string, McpServerEntry | undefined>> | undefined;
}

/** Changes some settings and keeps the others. A setting that is set to undefined is removed. */
export async function saveConfig(home: string, change: ConfigChange): Promise<SavedConfig> {
  await makeDirectory(home);
  return withFileLock(join(home, `${defaultName}.lock`), async () => {
    const file = await readConfigFile(home);
    const { config: old, ...rest } = file === undefined ? { config: {} } : await readOld(file);
    const wanted = written(merged(old, change));
    const { Config } = await import("../../messages/settings/config.js");
    const config = check(Config, (await withoutUnknownKeys(wanted)).known, "settings");
    // Write through a symbolic link: people keep their configuration elsewhere.
    const path = file === undefined ? join(home, defaultName) : await realpath(file.path);
    await writeAtomic(path, await textOf(file, wanted));
    return { config, ...rest };
  });
}

/** Settings that do not change keep their text, including comments in formats that have them. */
async function textOf(file: ConfigFile | undefined, wanted: unknown): Promise<string> {
  const format = configFormats[file?.name ?? defaultName];
  const before = file === undefined ? undefined : await configValue(file).catch(() => undefined);
  if (file === undefined || !isRecord(before)) return await format.write(wanted);
  // Alternative setting names are kept too, unless they conflict with the wanted configuration.
  for (const edits of [configEdits(ownShape(before), wanted), configEdits(before, wanted)]) {
    for (const way of format.ways) {
      const text = await way(file.text, edits, wanted).catch(() => undefined);
      if (text !== undefined && (await hasValue({ ...file, text }, wanted))) return text;
    }
  }
  // For example, a setting that a YAML alias shares with another place.
  throw new InvalidInputError(`cody cannot edit ${file.name} without losing its formatting. Edit it by hand`);
}

async function hasValue(file: ConfigFile, wanted: unknown): Promise<boolean> {
  return isDeepStrictEqual(ownShape(await configValue(file).catch(() => undefined)), wanted);
}

/** Goes through JSON, which drops undefined values; also drops empty tables. */
function written(config: ConfigChange): unknown {
  const plain = JSON.parse(JSON.stringify(config)) as Record<string, unknown>;
  const entries = Object.entries(plain).filter(([, value]) => !isRecord(value) || Object.keys(value).length > 0);
  return Object.fromEntries(entries);
}

function merged(old: Config, change: ConfigChange): ConfigChange {
  const groups = [...settingGroups, "mcp_servers" as const].map((name) => [name, { ...old[name], ...change[name] }]);
  const providers = mergedProviders(old.providers, change.providers);
  return {
    ...old,
    ...change,
    providers: Object.keys(providers).length > 0 ? providers : undefined,
    ...(Object.fromEntries(groups.filter(([, values]) => Object.keys(values ?? {}).length > 0)) as ConfigChange),
  };
}

/** Drops a provider that has no settings left. */
function mergedProviders(
  old: Config["providers"] = {},
  change: Config["providers"] = {},
): Record<string, ProviderEntry> {
  const names = [...new Set([...Object.keys(old), ...Object.keys(change)])];
  const entries = names.map((name) => [name, { ...old[name], ...change[name] }] as const);
  return Object.fromEntries(entries.filter(([, entry]) => Object.values(entry).some((value) => value !== undefined)));
}

/** Saving also repairs: a damaged configuration must not block the command that replaces it. */
async function readOld(file: ConfigFile): Promise<SavedConfig> {
  try {
    await parseConfig(file);
    // Includes unknown keys, so that they stay in the file.
    return { config: ownShape(await configValue(file)) as Config };
  } catch {
    const backup = `${file.path}.invalid`;
    await copyFile(file.path, backup);
    // The copy may contain API keys.
    await chmod(backup, 0o600);
    return { config: await salvageConfig(file), setAside: backup };
  }
}
