import { InvalidInputError } from "../../base/errors.js";
import { check } from "../../base/parse.js";
import type { Config } from "../../messages/settings/config.js";
import type { HooksConfig } from "../../messages/hooks.js";
import type { McpServerEntries } from "../../messages/settings/mcp-config.js";
import { settingRows } from "../../messages/settings/settings-table.js";
import { type ConfigFile, configValue, parseConfig, withoutUnknownKeys } from "../files/config-file.js";
import { ownShape } from "../files/written-config.js";
import type { ConfigName } from "../settings/config-names.js";
import { settingIn } from "../settings/setting-keys.js";
import { commandsDigest, commandSettings, type ProjectFile, readProjectFile } from "./project-file.js";
import { readTrust, readTrustedCommands, type TrustLevel } from "./trust.js";

const isCommandSetting: ReadonlySet<string> = new Set(commandSettings);

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
  const found = await readProjectFile(home, root);
  const { file } = found;
  if (file === undefined && found.problem === undefined) return { config: {} };
  const trust = (await readTrust(home)).get(root);
  if (trust === "trusted") return await trustedConfig(found);
  return trust === undefined && file !== undefined && (await hasSettings(file))
    ? { config: {}, ignoredConfig: file.path }
    : { config: {} };
}

/** Whether the file contains more than commands. Untrusted commands are reported where they would be started. */
async function hasSettings(file: ConfigFile): Promise<boolean> {
  const value = await configValue(file).catch(() => ({ damaged: true }));
  return Object.keys(Object(value) as object).some((key) => !isCommandSetting.has(key));
}

async function trustedConfig({ file, problem }: ProjectFile): Promise<ProjectConfig> {
  if (problem !== undefined) throw new InvalidInputError(problem);
  if (file === undefined) return { config: {} };
  // A conversation reads the commands of its own project when it is opened.
  const parsed = await parseConfig(file, `.cody/${file.name}`);
  const { mcp_servers: _, hooks: __, ...config } = parsed.config;
  const misplaced = personalSettings.find((key) => settingIn(config, key) !== undefined);
  if (misplaced !== undefined) {
    throw new InvalidInputError(`.cody/${file.name}: ${misplaced} can only be set in your own configuration`);
  }
  return { config, name: file.name, warnings: parsed.warnings };
}

/** The hooks and MCP servers in a project's own configuration, and whether the user trusts the project to run them. */
export interface ProjectCommands {
  readonly root: string;
  readonly trust: TrustLevel | undefined;
  /** Whether the project is trusted, and its commands are those that the user has agreed to. */
  readonly isAllowed: boolean;
  /** Whether the project is trusted, but its commands have changed since. */
  readonly isChanged: boolean;
  /** Identifies the commands; undefined if there are none. */
  readonly digest: string | undefined;
  /** The path of the configuration; undefined if there is none. */
  readonly file: string | undefined;
  readonly servers: McpServerEntries;
  readonly hooks: HooksConfig;
  /** The other settings in the configuration. */
  readonly settings: readonly string[];
  /** The reason why the configuration cannot be used. */
  readonly problem: string | undefined;
}

/** Reads the commands of the project at a root, which must be a real path. Those not allowed are for display only. */
export async function readProjectCommands(home: string, root: string): Promise<ProjectCommands> {
  const { file, problem } = await readProjectFile(home, root);
  const none = { root, file: file?.path, servers: {}, hooks: {}, settings: [], problem };
  if (file === undefined && problem === undefined)
    return { ...none, trust: undefined, isAllowed: false, isChanged: false, digest: undefined };
  const trust = (await readTrust(home)).get(root);
  const refused = { ...none, trust, isAllowed: false, isChanged: false, digest: undefined };
  if (file === undefined) return refused;
  try {
    const value = ownShape(await configValue(file));
    const settings = Object.keys(Object(value) as object).filter((key) => !isCommandSetting.has(key));
    const digest = await commandsDigest(file);
    const isAgreed = digest === undefined || (await readTrustedCommands(home)).get(root) === digest;
    return {
      ...none,
      trust,
      isAllowed: trust === "trusted" && isAgreed,
      isChanged: trust === "trusted" && !isAgreed,
      digest,
      settings,
      servers: await serversOf(value, file.path),
      hooks: await hooksOf(value, file.path),
    };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ...refused, problem: `${file.path}: ${error.message}` };
  }
}

async function serversOf(value: unknown, file: string): Promise<McpServerEntries> {
  const { mcp_servers: written = {} } = Object(value) as { readonly mcp_servers?: unknown };
  if (Object.keys(Object(written) as object).length === 0) return {};
  const { McpServerEntries } = await import("../../messages/settings/mcp-config.js");
  return check(McpServerEntries, written, `${file}: mcp_servers`);
}

/** Events of other versions and programs are ignored. */
async function hooksOf(value: unknown, file: string): Promise<HooksConfig> {
  const { hooks: written = {} } = Object(value) as { readonly hooks?: unknown };
  if (Object.keys(Object(written) as object).length === 0) return {};
  const { HooksConfig } = await import("../../messages/hooks.js");
  const { known } = await withoutUnknownKeys({ hooks: written });
  return check(HooksConfig, (known as { readonly hooks: unknown }).hooks, `${file}: hooks`);
}
