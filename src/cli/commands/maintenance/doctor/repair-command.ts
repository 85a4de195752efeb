import type { ConversationPlaces } from "../../../../config/places.js";
import { findById } from "../../../../rollouts/list/find-conversation.js";
import type { FlagValues } from "../../../arguments/flag-table.js";
import { quotedCommand } from "../../../../base/text/quoted-command.js";
import type { Finding } from "./finding.js";

/** The repair command for a conversation: by id if that finds this file, with the flags of this run. */
export async function repairCommandFor(
  { id, path }: Finding,
  { directory, elsewhere }: ConversationPlaces,
  { codex, conversationDir, home }: FlagValues<"codex" | "conversationDir" | "home">,
): Promise<string> {
  const isFound = id !== undefined && (await findById([directory, ...elsewhere], id))?.path === path;
  if (!isFound) return quotedCommand(["cody", "repair", path]);
  const flags = [
    ...(codex ? ["--codex"] : []),
    ...(conversationDir === undefined ? [] : ["--conversation-dir", conversationDir]),
    ...(home === undefined ? [] : ["--home", home]),
  ];
  return quotedCommand(["cody", "repair", id, ...flags]);
}
