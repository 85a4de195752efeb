import { readProjectServers } from "../../../../config/project/project-servers.js";
import type { McpServerEntry } from "../../../../messages/mcp-config.js";
import type { CommandContext } from "../../../context.js";
import { loadSettings } from "../../../load-settings.js";

/** A configured server, and whether a conversation would start it. */
export interface KnownServer {
  readonly name: string;
  readonly entry: McpServerEntry;
  /** The file that configures it. */
  readonly source: string;
  readonly status: "on" | "off" | "not trusted";
}

export interface KnownServers {
  readonly root: string;
  readonly servers: readonly KnownServer[];
  /** The error in the project's configuration, if any. */
  readonly problem: string | undefined;
}

/** If two servers have the same name, the project's takes precedence once it is trusted. */
export async function loadServers(context: CommandContext): Promise<KnownServers> {
  const { realRoot } = await context.projectRoots();
  const [{ values, file }, project] = await Promise.all([
    loadSettings(context),
    readProjectServers(context.home, realRoot),
  ]);
  const isTrusted = project.trust === "trusted";
  const own = Object.entries(values.mcp_servers ?? {}).filter(([name]) => !isTrusted || !(name in project.servers));
  const servers = [
    ...own.map(([name, entry]): KnownServer => ({ name, entry, source: file, status: statusOf(entry) })),
    ...Object.entries(project.servers).map(([name, entry]): KnownServer => ({
      name,
      entry,
      source: project.file ?? "",
      status: isTrusted ? statusOf(entry) : "not trusted",
    })),
  ];
  return { root: project.root, servers, problem: project.problem };
}

function statusOf({ enabled }: McpServerEntry): "on" | "off" {
  return enabled === false ? "off" : "on";
}
