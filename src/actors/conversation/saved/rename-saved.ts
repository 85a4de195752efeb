import type { SaveOutcome } from "../../../messages/rollout-command.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { appendSaved } from "./append-saved.js";
import type { Store } from "../store/store.js";

export interface Renaming {
  readonly conversationId: string;
  readonly name: string;
  readonly now: Date;
  readonly force: boolean;
}

/** Returns the line that records a conversation's name. */
export function nameLine(name: string, now: Date): OwnLine {
  return { timestamp: now.toISOString(), type: "cody", payload: { type: "named", name } };
}

/** Renames a conversation that is not open. Codex itself stores names next to its rollouts. */
export async function renameSaved(store: Store, { name, ...where }: Renaming): Promise<SaveOutcome> {
  const saved = await appendSaved(store, { ...where, line: nameLine(name, where.now) });
  if (saved.status !== "saved") return saved;
  return await store.indexName(where.conversationId, { name, timestamp: where.now.toISOString() }, "rename");
}
