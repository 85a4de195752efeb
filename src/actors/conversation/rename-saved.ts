import { ConversationInUseError } from "../../messages/errors.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { isPaginated } from "./read-parent.js";
import { apply, emptyState } from "./state.js";
import type { Store } from "./store.js";

export interface Renaming {
  readonly conversationId: string;
  readonly name: string;
  readonly now: Date;
  readonly force: boolean;
}

/** The line that says how a conversation is called. */
export function namedLine(name: string, now: Date): OwnLine {
  return { timestamp: now.toISOString(), type: "cody", payload: { type: "named", name } };
}

/** Renames a conversation nobody has open. It is not resumed: a turn that waits in it goes on waiting. */
export async function renameSaved(store: Store, renaming: Renaming): Promise<SaveOutcome> {
  const { conversationId, name, now } = renaming;
  // To what only Codex may add to nothing is added: Codex itself keeps names beside its rollouts.
  if (!(await isOnlyCodexs(store, conversationId))) {
    const saved = await append(store, renaming);
    if (saved.status !== "saved") return saved;
  }
  return await store.indexName(conversationId, { name, timestamp: now.toISOString() }, "rename");
}

/** As its first line says. */
async function isOnlyCodexs(store: Store, conversationId: string): Promise<boolean> {
  const state = emptyState();
  for await (const [first] of store.read(conversationId)) {
    if (first !== undefined) apply(state, first);
    break;
  }
  return isPaginated(state);
}

async function append(store: Store, { conversationId, name, now, force }: Renaming): Promise<SaveOutcome> {
  const labels = { provider: "unknown", model: "unknown", cwd: "/" };
  const { outcome, rollout } = await store.open({ conversationId, mode: "append", ...labels, now, force });
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
  rollout.append(namedLine(name, now));
  return await rollout.close();
}
