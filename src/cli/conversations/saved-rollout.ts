import { namedDirectories } from "../../config/places.js";
import { findSaved } from "../../rollouts/list/find-saved.js";
import type { RolloutName } from "../../rollouts/list/layout-files.js";
import { targetOf } from "./choose-conversation.js";
import type { SettingFlag } from "../arguments/flag-table.js";
import type { SharedContext } from "../context.js";
import { placesOf } from "./conversation-directory.js";

/** Finds the rollout file of a conversation by id, name or file; by default the command's first argument. */
export async function savedRollout(
  context: SharedContext<SettingFlag | "codex">,
  text = context.args[0] ?? "",
): Promise<RolloutName> {
  const places = await placesOf(context);
  if (!text.endsWith(".jsonl")) return await findSaved(namedDirectories(places), text);
  const { id, path = text } = await targetOf(context, places, text);
  return { id, path };
}
