import { quotedCommand } from "../../../../base/text/quoted-command.js";
import { mask } from "../../../../base/text/redaction.js";
import { visible } from "../../../../base/text/visible.js";
import { readProjectCommands } from "../../../../config/project/project-config.js";
import { secretOfArgument, createRedactor } from "../../../../config/secrets/redact.js";
import type { McpServerEntry } from "../../../../messages/settings/mcp-config.js";
import type { CommandContext } from "../../../context.js";
import { loadSettings } from "../../../load-settings.js";

const redactShapes = createRedactor([]);

/** A configured server, and whether a conversation would start it. */
export interface KnownServer {
  readonly name: string;
  readonly entry: McpServerEntry;
  /** The file that configures it. */
  readonly source: string;
  readonly status: "on" | "off" | "not trusted";
}

interface KnownServers {
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
    readProjectCommands(context.home, realRoot),
  ]);
  const isTrusted = project.isAllowed;
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

/** A server on one line. */
export function serverText(entry: McpServerEntry): string {
  const masked = shownEntry(entry);
  return "url" in masked ? visible(masked.url) : quotedCommand([masked.command, ...(masked.args ?? [])]);
}

/** Shows only the names of values that may be secret. */
export function shownEntry(entry: McpServerEntry) {
  if ("url" in entry) {
    const { url, http_headers: headers, ...rest } = entry;
    return { url: shownUrl(url), ...rest, ...(headers === undefined ? {} : { http_headers: Object.keys(headers) }) };
  }
  const { env, args, ...rest } = entry;
  return {
    ...rest,
    ...(args === undefined ? {} : { args: args.map(shownArgument) }),
    ...(env === undefined ? {} : { env: Object.keys(env) }),
  };
}

function shownUrl(url: string): string {
  return redactShapes(url.replaceAll(/([?&][^=&#]*=)[^&#]+/g, `$1${mask}`));
}

function shownArgument(argument: string, index: number, all: readonly string[]): string {
  const secret = secretOfArgument(all, index);
  return secret === undefined ? redactShapes(argument) : `${argument.slice(0, -secret.length)}${mask}`;
}
