import { toolName } from "../../../actors/mcp/tool-names.js";
import type { ConversationServers } from "../../../actors/mcp/conversation-servers.js";
import { counted } from "../../format/age.js";
import { CommandError, exitCodes } from "../../command-error.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import type { CurrentConversation } from "./current-conversation.js";
import { parsePromptArguments, type PromptArgument, promptUsage } from "./prompt-arguments.js";

const maxDescriptionChars = 80;

interface ServerPrompt {
  /** As typed, without the slash. */
  readonly command: string;
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

export function isPromptCommand(line: string): boolean {
  return /^\/mcp__[\w-]+(?:\s|$)/.test(line);
}

/** Expands a prompt command into the server's text, which is sent in its place. */
export async function promptText(current: CurrentConversation, line: string, signal: AbortSignal): Promise<string> {
  const [command = ""] = line.slice(1).split(/\s/, 1);
  const servers = (await current.player()).conversation.servers;
  await servers?.ready(signal);
  const prompt = (await promptsOf(servers, signal)).find((each) => each.command === command);
  if (servers === undefined || prompt === undefined) {
    throw new CommandError(`Unknown prompt /${command}. See: /mcp`, exitCodes.failed);
  }
  const said = await servers.prompt(prompt.server, prompt.name, valuesFor(prompt, line), signal);
  if (!said.ok) throw new CommandError(`MCP server ${prompt.server}: ${visible(said.error)}`, exitCodes.failed);
  return said.text;
}

/** Checks the arguments before the server is asked: its own error messages vary, or are missing. */
function valuesFor({ command, arguments: known }: ServerPrompt, line: string): Readonly<Record<string, string>> {
  const { values, missing, excess } = parsePromptArguments(line.slice(1 + command.length).trim(), known);
  if (missing.length === 0 && excess === "") return values;
  const problem =
    missing.length > 0
      ? `Missing ${missing.length === 1 ? "argument" : "arguments"}: ${inWords(missing)}`
      : `Unexpected argument: ${visible(shortened(excess, maxDescriptionChars))}`;
  throw new CommandError(`${problem}. Type: ${visible(promptUsage(command, known))}`, exitCodes.failed);
}

function inWords(names: readonly string[]): string {
  const last = visible(names.at(-1) ?? "");
  return names.length < 2 ? last : `${names.slice(0, -1).map(visible).join(", ")} and ${last}`;
}

/** The servers of the conversation and their offers. */
export async function serversText(current: CurrentConversation, signal: AbortSignal): Promise<string[]> {
  const { servers } = (await current.player()).conversation;
  if (servers === undefined) return ["No MCP servers. To add one: cody mcp add"];
  await servers.ready(signal);
  const states = servers.servers.map(({ name, state }) => {
    if (state.status === "failed") return `✗ ${name}: ${visible(state.error)}`;
    return "tools" in state ? `✓ ${name}: ${counted(state.tools.length, "tool")}` : `… ${name}: ${state.status}`;
  });
  const prompts = (await promptsOf(servers, signal)).map(
    ({ command, description, arguments: known }) =>
      `  ${visible(promptUsage(command, known))}  ${visible(shortened(description, maxDescriptionChars))}`,
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
      const known = Array.isArray(given) ? given.map(argumentOf) : [];
      const about = typeof description === "string" ? description : "";
      return { command, server, name: String(name), description: about, arguments: known };
    }),
  );
}

function argumentOf(given: unknown): PromptArgument {
  const { name, required } = Object(given) as Readonly<Record<string, unknown>>;
  return { name: String(name), isRequired: required === true };
}
