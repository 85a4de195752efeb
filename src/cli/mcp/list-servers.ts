import { quotedCommand } from "../../messages/quoted-command.js";
import { visible } from "../../messages/visible.js";
import { type CommandContext, printResult } from "../context.js";
import { type KnownServer, knownServers } from "./known-servers.js";

/** Shows what is configured; nothing is started for it. */
export async function listServers(context: CommandContext): Promise<number> {
  const { servers, problem, root } = await knownServers(context);
  if (problem !== undefined) await context.tell(`✗ ${visible(problem)}`);
  const rows = servers.map(
    (server) => `${server.name}  ${whatOf(server)}  (${server.status}, ${visible(server.source)})`,
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

/** Of what may be secret only the names. */
function shownEntry(entry: KnownServer["entry"]): Record<string, unknown> {
  if ("url" in entry) {
    const { http_headers: headers, ...rest } = entry;
    return { ...rest, ...(headers === undefined ? {} : { http_headers: Object.keys(headers) }) };
  }
  const { env, ...rest } = entry;
  return { ...rest, ...(env === undefined ? {} : { env: Object.keys(env) }) };
}

function whatOf({ entry }: KnownServer): string {
  return "url" in entry ? visible(entry.url) : quotedCommand([entry.command, ...(entry.args ?? [])]);
}
