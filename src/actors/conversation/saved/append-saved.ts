import { ConversationInUseError } from "../../../base/errors.js";
import type { SaveOutcome } from "../../../messages/rollout-command.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { readFileTime, restoreFileTime } from "../../../rollouts/keep-time.js";
import { isPaginated } from "../open/read-parent.js";
import { apply, emptyState } from "../state/state.js";
import type { Store } from "../store/store.js";

export interface SavedAppend {
  readonly conversationId: string;
  readonly line: OwnLine;
  readonly now: Date;
  readonly force: boolean;
}

/**
 * Appends a line to a conversation that is not open, without resuming it: a turn that waits in it keeps waiting. Its
 * modification time is kept, because nothing was said in it. Does nothing if only Codex may append to the file.
 */
export async function appendSaved(store: Store, request: SavedAppend): Promise<SaveOutcome> {
  const { conversationId, line, now, force } = request;
  if (await isCodexOnly(store, conversationId)) return { status: "saved" };
  const labels = { provider: "unknown", model: "unknown", cwd: "/" };
  const { outcome, rollout } = await store.open({ conversationId, mode: "append", ...labels, now, force });
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
  const before = rollout.path === null ? undefined : await readFileTime(rollout.path);
  rollout.append(line);
  const saved = await rollout.flush();
  if (saved.status === "saved" && rollout.path !== null && before !== undefined) {
    await restoreFileTime(rollout.path, before, rollout.bytes);
  }
  return await rollout.close();
}

/** Reads only the first line, which determines it. */
async function isCodexOnly(store: Store, conversationId: string): Promise<boolean> {
  const state = emptyState();
  for await (const [first] of store.read(conversationId)) {
    if (first !== undefined) apply(state, first);
    break;
  }
  return isPaginated(state);
}
