import { quotedCommand } from "../../messages/quoted-command.js";
import { visible } from "../../messages/visible.js";
import { type CommandContext, printResult } from "../context.js";
import { knownServers } from "./known-servers.js";
import { serverText, shownEntry } from "./shown-server.js";

/** Shows what is configured; nothing is started for it. */
export async function listServers(context: CommandContext): Promise<number> {
  const { servers, problem, root } = await knownServers(context);
  if (problem !== undefined) await context.tell(`✗ ${visible(problem)}`);
  const rows = servers.map(
    ({ name, entry, status, source }) => `${name}  ${serverText(entry)}  (${status}, ${visible(source)})`,
  );
  const hint = servers.some(({ status }) => status === "not trusted")
    ? [`To trust this project: ${quotedCommand(["cody", "trust", root])}`]
    : [];
  const text = servers.length === 0 ? "No MCP servers. To add one: cody mcp add <name> -- <command>" : "";
  await printResult(context, {
    text: [...rows, ...(text === "" ? [] : [text]), ...hint].join("\n"),
    json: servers.map(({ name, entry, source, status }) => ({ name, source, status, ...shownEntry(entry) })),
  });
  return 0;
}
