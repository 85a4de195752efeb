import { namedDirectories, type ConversationPlaces } from "../../../config/paths.js";
import { findByIdOrName } from "../../../rollouts/list/find-conversation.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { existingTarget } from "../../conversations/choose-conversation.js";
import type { CommandContext } from "../../context.js";
import { readOnlyContext, openWorkspace } from "../../workspace.js";

/** Finds the rollout of the named conversation, or else of the active one, and the places of all conversations. */
export async function chooseRollout(
  callerContext: CommandContext,
): Promise<{ readonly places: ConversationPlaces; readonly rollout: RolloutName }> {
  const context = readOnlyContext(callerContext);
  await using workspace = await openWorkspace(context);
  const { places } = workspace;
  const { id, path } = await existingTarget(context, workspace, context.args[0]);
  context.about(id);
  return { places, rollout: path === undefined ? await findByIdOrName(namedDirectories(places), id) : { id, path } };
}
