import { type CommandContext, printLine } from "../context.js";
import type { CurrentConversation } from "./current-conversation.js";

type SlashCommand = (context: CommandContext, current: CurrentConversation) => Promise<"stay" | "leave">;

/** Whether a line looks like a command; a path such as /usr/bin does not. */
export function isSlashCommand(line: string): boolean {
  return /^\/[A-Za-z][\w-]*(?:\s|$)/.test(line);
}

/** The command a line names, if there is one. */
export function slashCommand(line: string): SlashCommand | undefined {
  const [name = ""] = line.slice(1).split(/\s/, 1);
  return commands.get(name)?.run;
}

const leave: SlashCommand = () => Promise.resolve("leave");

const commands: ReadonlyMap<string, { readonly description: string; readonly run: SlashCommand }> = new Map([
  ["help", { description: "Show these commands", run: showHelp }],
  ["status", { description: "Show the conversation, its model and its file", run: showStatus }],
  ["clear", { description: "Begin a new conversation", run: clear }],
  ["exit", { description: "Leave", run: leave }],
  ["quit", { description: "Leave", run: leave }],
]);

async function showHelp(context: CommandContext): Promise<"stay"> {
  const lines = [...commands].map(([name, { description }]) => `  /${name.padEnd(8)}${description}`);
  await tellAside(context, ["Commands:", ...lines]);
  return "stay";
}

async function showStatus(context: CommandContext, current: CurrentConversation): Promise<"stay"> {
  const { id, provider, model, turns, tokens, file } = current.status;
  await tellAside(context, [
    `Conversation: ${id}`,
    `Provider: ${provider} (${model})`,
    `Turns: ${turns}`,
    `Tokens: ${tokens}`,
    `File: ${file ?? "none yet"}`,
  ]);
  return "stay";
}

async function clear(context: CommandContext, current: CurrentConversation): Promise<"stay"> {
  await current.clear();
  await tellAside(context, ["Conversation history cleared.", `Conversation: ${current.id}`]);
  return "stay";
}

/** With --json stdout is for events alone. */
async function tellAside(context: CommandContext, lines: readonly string[]): Promise<void> {
  const text = lines.join("\n");
  await (context.flags.json ? context.tell(text) : printLine(context, text));
}
