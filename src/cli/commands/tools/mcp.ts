import { usageError } from "../../command-error.js";
import type { ContextOf } from "../../context.js";

const usage =
  "Usage: cody mcp [list | add NAME -- COMMAND | add NAME --url URL | remove NAME | test [NAME] | login NAME | logout NAME]";

/** Each action imports its own module, so that listing does not load the code that talks to servers. */
export async function mcpCommand(context: ContextOf<"mcp">): Promise<number> {
  const [action = "list", name, ...command] = context.args;
  if (action !== "add" && command.length > 0) throw usageError(`Unexpected argument '${command[0]}'`, usage);
  switch (action) {
    case "list":
      return await (await import("./mcp/list-servers.js")).listServers(context);
    case "add":
      return await (await import("./mcp/add-server.js")).addServer(context, needed(name), command);
    case "remove":
      return await (await import("./mcp/add-server.js")).removeServer(context, needed(name));
    case "test":
      return await (await import("./mcp/test-servers.js")).testServers(context, name);
    case "login":
      return await (await import("./mcp/login-server.js")).loginServer(context, needed(name));
    case "logout":
      return await (await import("./mcp/login-server.js")).logoutServer(context, needed(name));
    default:
      throw usageError(`Unknown action '${action}'`, usage);
  }
}

function needed(name: string | undefined): string {
  if (name === undefined) throw usageError("Missing server name", usage);
  return name;
}
