import { toolName } from "../../actors/mcp/tool-names.js";
import type { ConversationServers } from "../../actors/mcp/conversation-servers.js";
import { CommandError, exitCodes } from "../command-error.js";
import { shortened } from "../../messages/shortened.js";
import { visible } from "../../messages/visible.js";
import type { CurrentConversation } from "./current-conversation.js";

const maxDescriptionChars = 80;

interface ServerPrompt {
  /** As it is typed, without the slash. */
  readonly command: string;
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly string[];
}

export function isPromptCommand(line: string): boolean {
  return /^\/mcp__[\w-]+(?:\s|$)/.test(line);
}

/** What a prompt of a server makes of what was typed, to be said in its place. */
export async function promptText(current: CurrentConversation, line: string, signal: AbortSignal): Promise<string> {
  const [command = ""] = line.slice(1).split(/\s/, 1);
  const servers = (await current.player()).conversation.servers;
  await servers?.ready(signal);
  const prompt = (await promptsOf(servers, signal)).find((each) => each.command === command);
  if (servers === undefined || prompt === undefined) {
    throw new CommandError(`There is no prompt /${command}. See: /mcp`, exitCodes.failed);
  }
  const given = argumentsIn(line.slice(1 + command.length).trim(), prompt.arguments);
  const said = await servers.prompt(prompt.server, prompt.name, given, signal);
  if (!said.ok) throw new CommandError(`MCP server ${prompt.server}: ${visible(said.error)}`, exitCodes.failed);
  return said.text;
}

/** The servers of the conversation, with what they offer. */
export async function serversText(current: CurrentConversation, signal: AbortSignal): Promise<string[]> {
  const { servers } = (await current.player()).conversation;
  if (servers === undefined) return ["No MCP servers. To add one: cody mcp add"];
  await servers.ready(signal);
  const states = servers.servers.map(({ name, state }) => {
    if (state.status === "failed") return `✗ ${name}: ${visible(state.error)}`;
    return "tools" in state ? `✓ ${name}: ${state.tools.length} tools` : `… ${name}: ${state.status}`;
  });
  const prompts = (await promptsOf(servers, signal)).map(
    ({ command, description, arguments: names }) =>
      `  /${[command, ...names.map((name) => `${visible(name)}=…`)].join(" ")}  ${visible(shortened(description, maxDescriptionChars))}`,
  );
  return [...states, ...(prompts.length === 0 ? [] : ["Prompts:", ...prompts])];
}

async function promptsOf(servers: ConversationServers | undefined, signal: AbortSignal): Promise<ServerPrompt[]> {
  const { prompts = {} } = (await servers?.describe(signal)) ?? {};
  const taken = new Set<string>();
  return Object.entries(prompts).flatMap(([server, listed]) =>
    listed.map((each): ServerPrompt => {
      const { name, description, arguments: given } = Object(each) as Record<string, unknown>;
      const command = toolName(server, String(name), taken);
      taken.add(command);
      const names = Array.isArray(given) ? given.map((one) => String(Object(one)["name"])) : [];
      const about = typeof description === "string" ? description : "";
      return { command, server, name: String(name), description: about, arguments: names };
    }),
  );
}

/** `name=value` words, values in quotes where they have blanks; anything else is the first argument. */
function argumentsIn(text: string, names: readonly string[]): Record<string, string> {
  if (text === "") return {};
  const pairs = [...text.matchAll(/([\w-]+)=(?:"([^"]*)"|(\S*))/g)].filter(([, name = ""]) => names.includes(name));
  if (pairs.length > 0)
    return Object.fromEntries(pairs.map(([, name, quoted, plain]) => [name, quoted ?? plain ?? ""]));
  const [first] = names;
  return first === undefined ? {} : { [first]: text };
}
