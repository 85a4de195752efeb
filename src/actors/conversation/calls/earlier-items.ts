import { compactedAway } from "../../../rollouts/compacted-away.js";
import type { EarlierItem } from "../../../tools/tool.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { TurnParts } from "../turn/play-turn.js";
import type { ConversationState } from "../state/state.js";

/** How a tool gets at what was compacted away; nothing when the conversation is not saved. */
export function earlierItems(
  { compaction }: Pick<TurnParts, "compaction">,
  rollout: Rollout,
  state: ConversationState,
): { readonly earlier?: () => AsyncIterable<EarlierItem> } {
  return rollout.path === null ? {} : { earlier: read };

  async function* read(): AsyncGenerator<EarlierItem> {
    // What was compacted a moment ago may be on its way to the file.
    await rollout.flush();
    yield* compactedAway(compaction.savedLines(), state.history);
  }
}
