import { findProjectRoot } from "../../config/project.js";
import { usageError } from "../command-error.js";
import { type CommandContext, printLine } from "../context.js";
import { placesOf } from "../conversation-directory.js";
import { localTime } from "../local-time.js";
import { projectConversations, type SavedConversation, savedConversations } from "../project-conversations.js";

export async function listCommand(context: CommandContext): Promise<number> {
  const limit = limitOf(context.flags.limit);
  const places = await placesOf(context);
  const conversations = context.flags.project
    ? (await projectConversations(context, places, await findProjectRoot(context.terminal.cwd))).slice(0, limit)
    : savedConversations(context, places, limit);
  await printLine(context, context.flags.json ? JSON.stringify(conversations) : listText(conversations));
  return 0;
}

function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`--limit: expected a whole number from 1 on, not '${text}'`);
  return Number(text);
}

function listText(conversations: readonly SavedConversation[]): string {
  if (conversations.length === 0) return "No saved conversations.\nCreate one: cody new";
  const entries = conversations.map(entryText);
  return ["Saved Conversations:", "", ...entries, `Total: ${conversations.length} conversation(s)`].join("\n");
}

function entryText({ id, name, pinned, provider, model, updatedAt, empty, damaged }: SavedConversation): string {
  const mark = (damaged ? " (damaged)" : empty ? " (empty)" : "") + (pinned ? " (pinned)" : "");
  const labels = `${provider ?? "unknown"} (${model ?? "unknown"})`;
  const called = name === undefined ? "" : `    Name: ${name}\n`;
  return `  ${id}${mark}\n${called}    Provider: ${labels}\n    Updated: ${localTime(updatedAt)}\n`;
}
