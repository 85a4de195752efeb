import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "../messages/errors.js";
import type { McpServerEntries } from "../messages/mcp-config.js";
import { check } from "../messages/parse.js";
import { ownShape } from "../messages/written-config.js";
import { configValue, readConfigFile } from "./config-file.js";
import { configNames } from "./config-names.js";
import { readTrust, realProjectRoot, type TrustLevel } from "./trust.js";

/** The MCP servers a project's own configuration names, and whether they may be started. */
export interface ProjectServers {
  readonly root: string;
  readonly trust: TrustLevel | undefined;
  /** Its configuration; undefined when there is none. */
  readonly file: string | undefined;
  readonly servers: McpServerEntries;
  /** Why its configuration cannot be used. */
  readonly problem: string | undefined;
}

const maxBytes = 1024 * 1024;

/** What is read of a project nobody trusts is for display alone. */
export async function readProjectServers(home: string, cwd: string): Promise<ProjectServers> {
  const root = await realProjectRoot(cwd);
  const folder = join(root, ".cody");
  const none = { root, trust: undefined, file: undefined, servers: {}, problem: undefined };
  // One look is all that a project without a configuration costs.
  const isFolder = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder || (await isSame(folder, home))) return none;
  const trust = (await readTrust(home)).get(root);
  try {
    await refuseUnusual(folder);
    const found = await readConfigFile(folder);
    if (found === undefined) return { ...none, trust };
    const file = found.path;
    const servers = await serversOf(ownShape(await configValue(found)), file);
    return { ...none, trust, file, servers };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ...none, trust, file: folder, problem: `${folder}: ${error.message}` };
  }
}

/** A pipe would never end, and a link leads where the project's owner likes. */
async function refuseUnusual(folder: string): Promise<void> {
  await Promise.all(
    configNames.map(async (name) => {
      const found = await lstat(join(folder, name)).catch(() => undefined);
      if (found === undefined || (found.isFile() && found.size <= maxBytes)) return;
      throw new InvalidInputError(`${name} is no file, or too long for a configuration`);
    }),
  );
}

async function serversOf(value: unknown, file: string): Promise<McpServerEntries> {
  const { mcp_servers: written = {} } = Object(value) as { readonly mcp_servers?: unknown };
  if (Object.keys(Object(written) as object).length === 0) return {};
  const { McpServerEntries } = await import("../messages/mcp-config.js");
  return check(McpServerEntries, written, `${file}: mcp_servers`);
}

/** Whoever works in the folder above cody's home has no second configuration there. */
async function isSame(folder: string, home: string): Promise<boolean> {
  const [one, other] = await Promise.all([folder, home].map((path) => realpath(path).catch(() => path)));
  return one === other;
}
