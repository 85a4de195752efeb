import { EmptyRolloutError } from "../../messages/errors.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { legacyLines } from "../../rollouts/legacy-lines.js";
import type { Parent } from "./opener.js";
import { recordedConfig } from "./resolve-settings.js";
import { existingFolder } from "./resume-notices.js";
import { apply, type ConversationState, emptyState } from "./state.js";
import type { Store } from "./store.js";

/** What a fork has from a conversation as it was after so many turns, or as it is now. */
export async function readParent(store: Store, id: string, afterTurn: number | undefined): Promise<Parent> {
  const state = emptyState();
  const lines: OwnLine[] = [];
  reading: for await (const batch of store.read(id)) {
    for (const line of batch) {
      if (afterTurn !== undefined && state.turns >= afterTurn && state.openTurn === undefined) break reading;
      apply(state, line);
      if (isInherited(line)) lines.push(line);
    }
  }
  if (state.history.length === 0) throw new EmptyRolloutError(id);
  const { config: recorded, notice } = await existingFolder(recordedConfig(state));
  return { id, lines: isPaginated(state) ? lines.flatMap(legacyLines) : lines, recorded, notice };
}

/** A conversation says itself what it is, how it is called and whether it is pinned. */
function isInherited(line: OwnLine): boolean {
  if (line.type === "cody") return line.payload.type !== "named" && line.payload.type !== "pinned";
  return line.type !== "session_meta";
}

/**
 * Whether only Codex may add to it. A line without a number at the end makes such a file unreadable for Codex, and a
 * turn written in our words is not shown by it.
 */
export function isPaginated({ meta }: ConversationState): boolean {
  return meta?.history_mode === "paginated";
}
