import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "../../base/errors.js";
import { check } from "../../base/parse.js";
import type { Config } from "../../messages/config.js";
import type { McpServerEntries } from "../../messages/mcp-config.js";
import { settingRows } from "../../messages/settings-table.js";
import { type ConfigFile, configValue, parseConfig, readConfigFile } from "../files/config-file.js";
import { ownShape } from "../files/written-config.js";
import { type ConfigName, configNames } from "../settings/config-names.js";
import { settingIn } from "../settings/setting-keys.js";
import { readTrust, type TrustLevel } from "./project.js";

/** The file is parsed before the user has trusted the project, and parsing a long one could take minutes. */
const maxBytes = 32 * 1024;

/** The settings of a project. */
export interface ProjectConfig {
  readonly config: Config;
  /** The configuration file they were read from. */
  readonly name?: ConfigName;
  /** One sentence for each unknown key. */
  readonly warnings?: readonly string[];
  /** The path of a configuration that is ignored, because the user has not decided whether to trust the project. */
  readonly ignoredConfig?: string;
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
    ? { config: {}, ignoredConfig: file.path }
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

/** A project's own configuration in `.cody`. It must not be used unless the user has trusted the project. */
interface ProjectConfigFile {
  readonly root: string;
  readonly trust: TrustLevel | undefined;
  /** Undefined if the project has none. */
  readonly file: ConfigFile | undefined;
  /** The reason why it cannot be read. */
  readonly problem: string | undefined;
}

/** Reads the configuration of the project at a root, which must be a real path. */
async function readProjectConfigFile(home: string, root: string): Promise<ProjectConfigFile> {
  const folder = join(root, ".cody");
  const none = { root, trust: undefined, file: undefined, problem: undefined };
  // This single `lstat` is the only cost for a project without a configuration.
  const isFolder = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder || (await isSame(folder, home))) return none;
  const trust = (await readTrust(home)).get(root);
  try {
    await refuseUnusual(folder);
    return { ...none, trust, file: await readConfigFile(folder) };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ...none, trust, problem: `${folder}: ${error.message}` };
  }
}

/** Reading a pipe could block forever, and a link may point outside the project. */
async function refuseUnusual(folder: string): Promise<void> {
  await Promise.all(
    configNames.map(async (name) => {
      const found = await lstat(join(folder, name)).catch(() => undefined);
      if (found === undefined || (found.isFile() && found.size <= maxBytes)) return;
      throw new InvalidInputError(`${name} is not a file, or is too large for a configuration`);
    }),
  );
}

/** In the folder above cody's home, `.cody` is the home itself and not a project configuration. */
async function isSame(folder: string, home: string): Promise<boolean> {
  const [one, other] = await Promise.all([folder, home].map((path) => realpath(path).catch(() => path)));
  return one === other;
}

/** The MCP servers in a project's own configuration, and whether the user trusts the project to start them. */
export interface ProjectServers {
  readonly root: string;
  readonly trust: TrustLevel | undefined;
  /** The path of the configuration; undefined if there is none. */
  readonly file: string | undefined;
  readonly servers: McpServerEntries;
  /** The other settings in the configuration. */
  readonly settings: readonly string[];
  /** The reason why the configuration cannot be used. */
  readonly problem: string | undefined;
}

/** Reads the servers of the project at a root, which must be a real path. Those of an untrusted one are for display only. */
export async function readProjectServers(home: string, realRoot: string): Promise<ProjectServers> {
  const { root, trust, file, problem } = await readProjectConfigFile(home, realRoot);
  const none = { root, trust, file: file?.path, servers: {}, settings: [], problem };
  if (file === undefined) return none;
  try {
    const value = ownShape(await configValue(file));
    const settings = Object.keys(Object(value) as object).filter((key) => key !== "mcp_servers");
    return { ...none, settings, servers: await serversOf(value, file.path) };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ...none, problem: `${file.path}: ${error.message}` };
  }
}

async function serversOf(value: unknown, file: string): Promise<McpServerEntries> {
  const { mcp_servers: written = {} } = Object(value) as { readonly mcp_servers?: unknown };
  if (Object.keys(Object(written) as object).length === 0) return {};
  const { McpServerEntries } = await import("../../messages/mcp-config.js");
  return check(McpServerEntries, written, `${file}: mcp_servers`);
}
