import { InvalidInputError } from "../../base/errors.js";
import type { McpServerEntries } from "../../messages/mcp-config.js";
import { check } from "../../base/parse.js";
import { ownShape } from "../files/written-config.js";
import { configValue } from "../files/config-file.js";
import { readProjectConfigFile } from "../files/project-config-file.js";
import type { TrustLevel } from "./trust.js";

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
