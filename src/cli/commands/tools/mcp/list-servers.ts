import { errorMessage } from "../../../../base/error-message.js";
import { hasAuthorizationHeader } from "../../../../actors/mcp/server-target.js";
import { quotedCommand } from "../../../../base/text/quoted-command.js";
import { visible } from "../../../../base/text/visible.js";
import { type CommandContext, printResult } from "../../../context.js";
import { type KnownServer, loadServers, serverText, shownEntry } from "./known-servers.js";

/** Lists the configured servers without starting any. */
export async function listServers(context: CommandContext): Promise<number> {
  const { servers, problem, root } = await loadServers(context);
  if (problem !== undefined) await context.tell(`✗ ${visible(problem)}`);
  const logins = await loginsTo(context, servers);
  const rows = servers.map(({ name, entry, status, source }) => {
    const login = "url" in entry ? logins.get(entry.url) : undefined;
    const loginText = login === undefined ? [] : [login ? "logged in" : "not logged in"];
    return `${name}  ${serverText(entry)}  (${[status, visible(source), ...loginText].join(", ")})`;
  });
  const hint = servers.some(({ status }) => status === "not trusted")
    ? [`To trust this project: ${quotedCommand(["cody", "trust", root])}`]
    : [];
  const text = servers.length === 0 ? "No MCP servers. To add one: cody mcp add <name> -- <command>" : "";
  await printResult(context, {
    text: [...rows, ...(text === "" ? [] : [text]), ...hint].join("\n"),
    json: servers.map(({ name, entry, source, status }) => {
      const loggedIn = "url" in entry ? logins.get(entry.url) : undefined;
      return { name, source, status, ...shownEntry(entry), ...(loggedIn === undefined ? {} : { loggedIn }) };
    }),
  });
  return 0;
}

/** Whether a login exists, by address, for servers that may use one. Imports the token store only for those. */
async function loginsTo(context: CommandContext, servers: readonly KnownServer[]): Promise<Map<string, boolean>> {
  const urls = servers.flatMap(({ entry }) => ("url" in entry && !hasAuthorizationHeader(entry) ? [entry.url] : []));
  if (urls.length === 0) return new Map();
  const { TokenStore } = await import("../../../../actors/credentials/token-store.js");
  const store = new TokenStore(context.home);
  try {
    const found = await Promise.all(urls.map((url) => store.readMcp(url)));
    return new Map(urls.map((url, index) => [url, found[index] !== undefined]));
  } catch (error) {
    await context.tell(`✗ ${visible(errorMessage(error))}`);
    return new Map();
  }
}
