import type { Config } from "../../messages/config.js";
import { InvalidInputError } from "../../base/errors.js";
import { type ConfigFile, configValue, parseConfig } from "../files/config-file.js";
import type { ConfigName } from "../settings/config-names.js";
import { type ProjectConfigFile, readProjectConfigFile } from "../files/project-config-file.js";

/** What a project says of settings. */
export interface ProjectConfig {
  readonly config: Config;
  /** The configuration it was read from. */
  readonly name?: ConfigName;
  /** A sentence about each key that no setting has. */
  readonly warnings?: readonly string[];
  /** A configuration that is not used, because nobody has said whether the project may have one. */
  readonly unasked?: string;
}

/**
 * The user's own: where conversations are kept and what of them, who is logged in, to whom keys are sent, and what may be
 * done unasked. A project that is trusted still does not decide that.
 */
const personal = [
  "approvalPolicy",
  "auth",
  "baseUrl",
  "export",
  "logins",
  "persistence",
  "providers",
  "redaction",
  "sandbox",
  "toolEnv",
] as const;

/** Of a project that is trusted; of others it is only said that there is something. */
export async function readProjectConfig(home: string, cwd: string): Promise<ProjectConfig> {
  const found = await readProjectConfigFile(home, cwd);
  if (found.trust === "trusted") return await trustedConfig(found);
  const { trust, file } = found;
  return trust === undefined && file !== undefined && (await saysSettings(file))
    ? { config: {}, unasked: file.path }
    : { config: {} };
}

/** Whether there is more in it than servers, of which is told where they would be started. */
async function saysSettings(file: ConfigFile): Promise<boolean> {
  const value = await configValue(file).catch(() => ({ damaged: true }));
  return Object.keys(Object(value) as object).some((key) => key !== "mcp_servers");
}

async function trustedConfig({ file, problem }: ProjectConfigFile): Promise<ProjectConfig> {
  if (problem !== undefined) throw new InvalidInputError(problem);
  if (file === undefined) return { config: {} };
  // Its servers are started by whoever keeps servers, for all conversations of the project.
  const parsed = await parseConfig(file, `.cody/${file.name}`);
  const { mcp_servers: _, ...config } = parsed.config;
  const misplaced = personal.find((key) => config[key] !== undefined);
  if (misplaced !== undefined) {
    throw new InvalidInputError(`.cody/${file.name}: ${misplaced} can only be said in your own configuration`);
  }
  return { config, name: file.name, warnings: parsed.warnings };
}
