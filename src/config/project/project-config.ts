import type { Config } from "../../messages/config.js";
import { InvalidInputError } from "../../base/errors.js";
import { type ConfigFile, configValue, parseConfig } from "../files/config-file.js";
import type { ConfigName } from "../settings/config-names.js";
import { settingIn } from "../settings/setting-keys.js";
import { settingRows } from "../../messages/settings-table.js";
import { type ProjectConfigFile, readProjectConfigFile } from "../files/project-config-file.js";

/** The settings of a project. */
export interface ProjectConfig {
  readonly config: Config;
  /** The configuration file they were read from. */
  readonly name?: ConfigName;
  /** One sentence for each unknown key. */
  readonly warnings?: readonly string[];
  /** The path of a configuration that is ignored, because the user has not decided whether to trust the project. */
  readonly unasked?: string;
}

/**
 * Settings that only the user decides, even if a project is trusted: the storage and retention of conversations,
 * logins, the destinations of keys, and the actions allowed without approval. A group is named as a whole if all its
 * settings are the user's.
 */
export const personalSettings: readonly string[] = [
  ...new Set(settingRows.filter(({ scope }) => scope === "user").map(({ key }) => wholeGroup(key))),
].toSorted();

function wholeGroup(key: string): string {
  const [group = key] = key.split(".");
  const rows = settingRows.filter((row) => row.key.startsWith(`${group}.`));
  return rows.length > 0 && rows.every(({ scope }) => scope === "user") ? group : key;
}

/** Returns the settings of a trusted project. For a project without a trust decision, reports only that it has some. */
export async function readProjectConfig(home: string, root: string): Promise<ProjectConfig> {
  const found = await readProjectConfigFile(home, root);
  if (found.trust === "trusted") return await trustedConfig(found);
  const { trust, file } = found;
  return trust === undefined && file !== undefined && (await hasSettings(file))
    ? { config: {}, unasked: file.path }
    : { config: {} };
}

/** Whether the file contains more than MCP servers. Untrusted servers are reported where they would be started. */
async function hasSettings(file: ConfigFile): Promise<boolean> {
  const value = await configValue(file).catch(() => ({ damaged: true }));
  return Object.keys(Object(value) as object).some((key) => key !== "mcp_servers");
}

async function trustedConfig({ file, problem }: ProjectConfigFile): Promise<ProjectConfig> {
  if (problem !== undefined) throw new InvalidInputError(problem);
  if (file === undefined) return { config: {} };
  // The MCP actor reads the project's servers itself and starts them once for all conversations of the project.
  const parsed = await parseConfig(file, `.cody/${file.name}`);
  const { mcp_servers: _, ...config } = parsed.config;
  const misplaced = personalSettings.find((key) => settingIn(config, key) !== undefined);
  if (misplaced !== undefined) {
    throw new InvalidInputError(`.cody/${file.name}: ${misplaced} can only be set in your own configuration`);
  }
  return { config, name: file.name, warnings: parsed.warnings };
}
