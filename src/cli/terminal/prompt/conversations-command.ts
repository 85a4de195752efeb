import { lstat } from "node:fs/promises";
import { conversationExcerpt } from "../../../rollouts/list/conversation-excerpt.js";
import { counted } from "../../format/age.js";
import { byteText } from "../../format/byte-text.js";
import { candidatesOf, cleaned, cleanedText, type CleanWish } from "../../commands/maintenance/clean-conversations.js";
import type { CommandContext } from "../../context.js";
import { localTime } from "../../format/local-time.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { projectConversations } from "../../conversations/project-conversations.js";
import { shortened } from "../../../base/text/shortened.js";
import type { CurrentConversation } from "./current-conversation.js";

const maxShown = 10;
const maxChars = 100;
const weekMs = 7 * 24 * 60 * 60 * 1000;

/** What `/conversations` and its two clean-ups have to say. */
export async function conversationsText(
  context: CommandContext,
  current: CurrentConversation,
  text: string,
): Promise<string[]> {
  const { places, projectRoot, enabled } = current.surroundings;
  if (!enabled) {
    return [
      "Conversations are not being saved: persistence is off.",
      "To save them: cody config set persistence.enabled true",
    ];
  }
  const wishes: Readonly<Record<string, CleanWish>> = {
    clean: { projectRoot, current: current.id, olderThanMs: weekMs },
    "clean-all": { projectRoot, current: current.id },
  };
  if (text === "") return await listText(await projectConversations(context, places, projectRoot));
  const wish = Object.hasOwn(wishes, text) ? wishes[text] : undefined;
  if (wish === undefined) return ["Usage: /conversations, /conversations clean or /conversations clean-all"];
  const candidates = await candidatesOf(context, places, wish);
  const stays = current.begun === undefined ? [] : ["The conversation you are in stays."];
  return [...cleanedText(await cleaned(context, places, candidates.going), candidates, wish), ...stays];
}

async function listText(all: readonly SavedConversation[]): Promise<string[]> {
  if (all.length === 0) return ["No saved conversations in this project."];
  const shown = await Promise.all(all.slice(0, maxShown).map(entryText));
  const more =
    all.length > maxShown ? [`The ${maxShown} newest of ${all.length}; all of them: cody list --project`] : [];
  return ["Conversations of this project:", ...shown.flat(), ...more];
}

async function entryText({ id, path, name, updatedAt, pinned }: SavedConversation): Promise<string[]> {
  const { messages, firstMessage, lastAnswer } = await conversationExcerpt(path, id);
  const bytes = await lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
  return [
    `  ${id}${name === undefined ? "" : ` (${name})`}${pinned ? " (pinned)" : ""}`,
    `    ${localTime(updatedAt)}, ${counted(messages, "message")}, ${byteText(bytes)}`,
    ...(firstMessage === undefined ? [] : [`    First: ${oneLine(firstMessage)}`]),
    ...(lastAnswer === undefined ? [] : [`    Last answer: ${oneLine(lastAnswer)}`]),
  ];
}

function oneLine(text: string): string {
  return shortened(text.trim().replaceAll(/\s+/g, " "), maxChars);
}
