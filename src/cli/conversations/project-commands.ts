import { quotedCommand } from "../../base/text/quoted-command.js";
import { visible } from "../../base/text/visible.js";
import type { ProjectCommands } from "../../config/project/project-config.js";
import type { McpServerEntries } from "../../messages/settings/mcp-config.js";

/** The commands that a project would run, one on each line. They are complete: the user agrees only to what is shown. */
export function commandRows({ servers, hooks }: Pick<ProjectCommands, "servers" | "hooks">): string[] {
  const ofHooks = Object.entries(hooks).flatMap(([event, groups]) =>
    (groups ?? []).flatMap(({ matcher, hooks: commands }) =>
      commands.map(({ command }) => {
        const of = matcher === undefined || matcher === "" ? "" : ` of ${visible(matcher)}`;
        return `  the ${event} hook${of}: ${visible(command)}`;
      }),
    ),
  );
  const ofServers = Object.entries(servers).map(([name, entry]) => `  the MCP server ${name}: ${serverText(entry)}`);
  return [...ofHooks, ...ofServers];
}

function serverText(entry: McpServerEntries[string]): string {
  if ("url" in entry) return visible(entry.url);
  const env = Object.keys(entry.env ?? {});
  return [
    quotedCommand([entry.command, ...(entry.args ?? [])]),
    ...(entry.cwd === undefined ? [] : [`in ${visible(entry.cwd)}`]),
    ...(env.length === 0 ? [] : [`with ${env.map(visible).join(", ")}`]),
  ].join(" ");
}
