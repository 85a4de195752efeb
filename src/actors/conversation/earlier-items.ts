import { compactedAway } from "../../rollouts/compacted-away.js";
import { readRollout } from "../../rollouts/read.js";
import type { EarlierItem } from "../../tools/tool.js";
import type { Rollout } from "../rollout-writer/rollout.js";
import type { ConversationState } from "./state.js";

/** How a tool gets at what was compacted away; nothing when no file has it. */
export function earlierItems(
  conversationId: string,
  rollout: Rollout,
  state: ConversationState,
): { readonly earlier?: () => AsyncIterable<EarlierItem> } {
  const { path } = rollout;
  return path === null ? {} : { earlier: () => read(path) };

  async function* read(file: string): AsyncGenerator<EarlierItem> {
    // What was compacted a moment ago may be on its way to the file.
    await rollout.flush();
    yield* compactedAway(readRollout(file, conversationId), state.history);
  }
}
