import { readConfigFile, parseConfig } from "../../config/config-file.js";
import { saveConfig } from "../../config/save-config.js";
import { McpServerEntry, McpServerName } from "../../messages/mcp-config.js";
import { CommandError, exitCodes, usageError } from "../command-error.js";
import { type CommandContext, printResult } from "../context.js";
import { tellSetAside } from "../tell-set-aside.js";

const usage = "Usage: cody mcp add <name> -- <command> [arguments], or cody mcp add <name> --url <url>";

/** Writes a server into the configuration in the home, and leaves the rest of it as it is written. */
export async function addServer(context: CommandContext, name: string, command: readonly string[]): Promise<number> {
  const checked = McpServerName.safeParse(name);
  if (!checked.success) throw usageError(checked.error.issues[0]?.message ?? "not a name", usage);
  const { url, bearerTokenEnvVar, env = [] } = context.flags;
  const [program, ...args] = command;
  const wanted =
    program === undefined
      ? { url, bearer_token_env_var: bearerTokenEnvVar }
      : {
          command: program,
          ...(args.length === 0 ? {} : { args }),
          ...(env.length === 0 ? {} : { env: Object.fromEntries(env.map(pairOf)) }),
          url,
        };
  const result = McpServerEntry.safeParse(JSON.parse(JSON.stringify(wanted)));
  if (!result.success) throw usageError(result.error.issues[0]?.message ?? "not a server", usage);
  await tellSetAside(context, await saveConfig(context.home, { mcp_servers: { [name]: result.data } }));
  await printResult(context, {
    text: `✓ Added ${name}. To try it: cody mcp test ${name}`,
    json: { name, added: true },
  });
  return 0;
}

export async function removeServer(context: CommandContext, name: string): Promise<number> {
  const file = await readConfigFile(context.home);
  const servers = file === undefined ? {} : ((await parseConfig(file)).mcp_servers ?? {});
  if (!Object.hasOwn(servers, name)) {
    throw new CommandError(`There is no MCP server named ${name} in your configuration`, exitCodes.failed, [
      "See: cody mcp list",
    ]);
  }
  await tellSetAside(context, await saveConfig(context.home, { mcp_servers: { [name]: undefined } }));
  await printResult(context, { text: `✓ Removed ${name}`, json: { name, removed: true } });
  return 0;
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`--env ${text.slice(0, 40)}: expected NAME=VALUE`, usage);
  return [text.slice(0, at), text.slice(at + 1)];
}
