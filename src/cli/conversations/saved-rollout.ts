import { namedDirectories } from "../../config/places.js";
import { findByIdOrName } from "../../rollouts/list/find-saved.js";
import type { RolloutName } from "../../rollouts/list/layout-files.js";
import { findTarget } from "./choose-conversation.js";
import type { SettingFlag } from "../arguments/flag-table.js";
import type { SharedContext } from "../context.js";
import { loadPlaces } from "./conversation-directory.js";

/** Finds the rollout file of a conversation by id, name or file; by default the command's first argument. */
export async function findSavedRollout(
  context: SharedContext<SettingFlag | "codex">,
  text = context.args[0] ?? "",
): Promise<RolloutName> {
  const places = await loadPlaces(context);
  if (!text.endsWith(".jsonl")) return await findByIdOrName(namedDirectories(places), text);
  const { id, path = text } = await findTarget(context, places, text);
  return { id, path };
}
