import type { HandleServers } from "../../../actors/mcp/handle-servers.js";
import { toolName } from "../../../actors/mcp/listed-tools.js";
import { shortened } from "../../../base/text/truncate.js";
import { visible } from "../../../base/text/visible.js";
import { CommandError, exitCodes } from "../../command-error.js";
import { counted } from "../../format.js";
import type { PromptConversation } from "./prompt-conversation.js";

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
export async function promptText(current: PromptConversation, line: string, signal: AbortSignal): Promise<string> {
  const [command = ""] = line.slice(1).split(/\s/, 1);
  const servers = (await current.player()).conversation.servers;
  await servers?.ready(signal);
  const prompt = (await promptsOf(servers, signal)).find((each) => each.command === command);
  if (servers === undefined || prompt === undefined) {
    throw new CommandError(`Unknown prompt /${command}. See: /mcp`, exitCodes.failed);
  }
  const result = await servers.prompt(prompt.server, prompt.name, valuesFor(prompt, line), signal);
  if (!result.ok) throw new CommandError(`MCP server ${prompt.server}: ${visible(result.error)}`, exitCodes.failed);
  return result.text;
}

/** Checks the arguments before the server is asked: its own error messages vary, or are missing. */
function valuesFor({ command, arguments: known }: ServerPrompt, line: string): Readonly<Record<string, string>> {
  const { values, missing, excess } = parsePromptArguments(line.slice(1 + command.length).trim(), known);
  if (missing.length === 0 && excess === "") return values;
  const problem =
    missing.length > 0
      ? `Missing ${missing.length === 1 ? "argument" : "arguments"}: ${listText(missing)}`
      : `Unexpected argument: ${visible(shortened(excess, maxDescriptionChars))}`;
  throw new CommandError(`${problem}. Type: ${visible(promptUsage(command, known))}`, exitCodes.failed);
}

function listText(names: readonly string[]): string {
  const last = visible(names.at(-1) ?? "");
  return names.length < 2 ? last : `${names.slice(0, -1).map(visible).join(", ")} and ${last}`;
}

/** The servers of the conversation and their offers. */
export async function serversText(current: PromptConversation, signal: AbortSignal): Promise<string[]> {
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

async function promptsOf(servers: HandleServers | undefined, signal: AbortSignal): Promise<ServerPrompt[]> {
  const { prompts = {} } = (await servers?.describe(signal)) ?? {};
  const usedNames = new Set<string>();
  return Object.entries(prompts).flatMap(([server, listed]) =>
    listed.map((each): ServerPrompt => {
      const { name, description, arguments: args } = Object(each) as Record<string, unknown>;
      const command = toolName(server, String(name), usedNames);
      usedNames.add(command);
      const known = Array.isArray(args) ? args.map(argumentOf) : [];
      const about = typeof description === "string" ? description : "";
      return { command, server, name: String(name), description: about, arguments: known };
    }),
  );
}

function argumentOf(argument: unknown): PromptArgument {
  const { name, required } = Object(argument) as Readonly<Record<string, unknown>>;
  return { name: String(name), isRequired: required === true };
}

interface PromptArgument {
  readonly name: string;
  readonly isRequired: boolean;
}

interface ParsedArguments {
  readonly values: Readonly<Record<string, string>>;
  /** Required arguments that were not given. */
  readonly missing: readonly string[];
  /** Text that belongs to no argument; empty if there is none. */
  readonly excess: string;
}

interface Word {
  readonly name: string | undefined;
  readonly value: string;
  readonly isQuoted: boolean;
  readonly text: string;
}

/**
 * Parses `name=value` words; values with blanks are quoted. Text without a name is for the first argument that was not
 * named; several quoted words are for several arguments, in order.
 */
export function parsePromptArguments(text: string, known: readonly PromptArgument[]): ParsedArguments {
  const words = wordsOf(text, new Set(known.map(({ name }) => name)));
  const named = words.flatMap(({ name, value }) => (name === undefined ? [] : [[name, value] as const]));
  const others = words.filter(({ name }) => name === undefined);
  const usedNames = new Set(named.map(([name]) => name));
  const free = known.filter(({ name }) => !usedNames.has(name));
  const unnamed = others.every(({ isQuoted }) => isQuoted)
    ? others.map(({ value }) => value)
    : [others.map((word) => word.text).join(" ")];
  const values = [...named, ...free.slice(0, unnamed.length).map(({ name }, at) => [name, unnamed[at] ?? ""] as const)];
  const valueNames = new Set(values.map(([name]) => name));
  return {
    values: Object.fromEntries(values),
    missing: known.filter(({ name, isRequired }) => isRequired && !valueNames.has(name)).map(({ name }) => name),
    excess: unnamed.slice(free.length).join(" "),
  };
}

/** The usage line of a prompt. */
export function promptUsage(command: string, known: readonly PromptArgument[]): string {
  const argumentTexts = known.map(({ name, isRequired }) => (isRequired ? `${name}="…"` : `[${name}="…"]`));
  return [`/${command}`, ...argumentTexts].join(" ");
}

function wordsOf(text: string, names: ReadonlySet<string>): Word[] {
  const found = text.matchAll(/(?:([^\s="']+)=)?(?:"((?:[^"\\]|\\.)*)"(?!\S)|'([^']*)'(?!\S)|(\S*))/g);
  return [...found].flatMap(([whole, name, double, single, plain = ""]): Word[] => {
    if (whole === "") return [];
    const quoted = double?.replaceAll(/\\(["\\])/g, "$1") ?? single;
    const isKnown = name !== undefined && names.has(name);
    if (name !== undefined && !isKnown) return [{ name: undefined, value: whole, isQuoted: false, text: whole }];
    return [{ name, value: quoted ?? plain, isQuoted: quoted !== undefined, text: whole }];
  });
}
