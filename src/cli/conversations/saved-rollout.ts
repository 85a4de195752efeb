import { namedDirectories } from "../../config/places.js";
import { findSaved } from "../../rollouts/list/find-saved.js";
import type { RolloutName } from "../../rollouts/list/layout-files.js";
import { targetOf } from "./choose-conversation.js";
import type { CommandContext } from "../context.js";
import { placesOf } from "./conversation-directory.js";

/** The file of the conversation a command names first, or of another it names, by id, name, or the file itself. */
export async function savedRollout(context: CommandContext, text = context.args[0] ?? ""): Promise<RolloutName> {
  const places = await placesOf(context);
  if (!text.endsWith(".jsonl")) return await findSaved(namedDirectories(places), text);
  const { id, path = text } = await targetOf(context, places, text);
  return { id, path };
}
