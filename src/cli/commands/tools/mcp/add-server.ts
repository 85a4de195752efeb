import { parseConfig, readConfigFile, salvageConfig } from "../../../../config/files/config-file.js";
import { secretsOf } from "../../../../config/secrets/redact.js";
import { issueWords } from "../../../../base/issue-words.js";
import { type McpServerEntries, McpServerEntry, McpServerName } from "../../../../messages/settings/mcp-config.js";
import { changeConfig } from "../../settings/change-config.js";
import { CommandError, exitCodes, usageError } from "../../../command-error.js";
import { type ContextOf, printResult } from "../../../context.js";
import { type Interruption, watchSignals } from "../../../terminal/interruption.js";
import { readSecret } from "../../../terminal/read-input.js";
import { serverText } from "./known-servers.js";

const usage = "Usage: cody mcp add <name> -- <command> [arguments], or cody mcp add <name> --url <url>";

/**
 * Writes a server into the configuration in the home, and leaves the rest of the file unchanged. An existing server is
 * replaced only with --replace, because its entry is stored nowhere else.
 */
export async function addServer(context: ContextOf<"mcp">, name: string, command: readonly string[]): Promise<number> {
  const checked = McpServerName.safeParse(name, { error: issueWords });
  if (!checked.success) throw usageError(checked.error.issues[0]?.message ?? "not a name", usage);
  const { url, bearerTokenEnvVar, env = [], replace } = context.flags;
  const before = (await ownServers(context.home))[name];
  if (before !== undefined && !replace) {
    const hints = [serverText(before), `To replace it: cody mcp add ${name} --replace …`];
    throw new CommandError(`MCP server '${name}' already exists`, exitCodes.failed, hints);
  }
  const [program, ...args] = command;
  using interruption = watchSignals(context.terminal);
  const variables = program === undefined ? {} : await variablesOf(context, env, interruption);
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  const wanted =
    program === undefined
      ? { url, bearer_token_env_var: bearerTokenEnvVar }
      : {
          command: program,
          ...(args.length === 0 ? {} : { args }),
          ...(env.length === 0 ? {} : { env: variables }),
          url,
        };
  const result = McpServerEntry.safeParse(JSON.parse(JSON.stringify(wanted)), { error: issueWords });
  if (!result.success) throw usageError(result.error.issues[0]?.message ?? "not a valid server", usage);
  await changeConfig(context, { mcp_servers: { [name]: result.data } });
  const done = before === undefined ? `Added ${name}` : `Replaced ${name} (was: ${serverText(before)})`;
  await printResult(context, {
    text: [`✓ ${done}`, `To try it: cody mcp test ${name}`].join("\n"),
    json: { name, added: true, replaced: before !== undefined },
  });
  return 0;
}

export async function removeServer(context: ContextOf<"mcp">, name: string): Promise<number> {
  const file = await readConfigFile(context.home);
  const servers = file === undefined ? {} : ((await parseConfig(file)).config.mcp_servers ?? {});
  if (!Object.hasOwn(servers, name)) {
    throw new CommandError(`MCP server '${name}' not found in your configuration`, exitCodes.failed, [
      "See: cody mcp list",
    ]);
  }
  await changeConfig(context, { mcp_servers: { [name]: undefined } });
  await printResult(context, { text: `✓ Removed ${name}`, json: { name, removed: true } });
  return 0;
}

/** The servers in the home; from a file that does not parse, those that can be salvaged, as on saving. */
async function ownServers(home: string): Promise<McpServerEntries> {
  const file = await readConfigFile(home);
  if (file === undefined) return {};
  const config = await parseConfig(file).then(
    (parsed) => parsed.config,
    () => salvageConfig(file),
  );
  return config.mcp_servers ?? {};
}

/** Reads the value of `NAME=-` from stdin: arguments are visible in the shell's history and in the process list. */
async function variablesOf(
  context: ContextOf<"mcp">,
  given: readonly string[],
  interruption: Interruption,
): Promise<Record<string, string>> {
  const variables = Object.fromEntries(given.map(pairOf));
  const [hidden, ...others] = Object.keys(variables).filter((name) => variables[name] === "-");
  if (others.length > 0) throw usageError("--env NAME=-: only one value can be read from stdin", usage);
  const exposed = Object.entries(variables).filter(
    ([name, value]) => name !== hidden && secretsOf({ [name]: value })[0],
  );
  for (const [name] of exposed) {
    await context.tell(`⚠ ${name} looks like a secret, and other users can see arguments. Safer: --env ${name}=-`);
  }
  if (hidden === undefined) return variables;
  const value = await readSecret(context, hidden, interruption);
  if (value === "" && interruption.exitCode === undefined) throw usageError(`No value for ${hidden} on stdin`);
  context.hide([value]);
  return { ...variables, [hidden]: value };
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`--env ${text.slice(0, 40)}: expected NAME=VALUE`, usage);
  return [text.slice(0, at), text.slice(at + 1)];
}
