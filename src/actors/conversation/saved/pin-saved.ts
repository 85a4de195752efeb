import type { SaveOutcome } from "../../../messages/rollout-command.js";
import { appendSaved } from "./append-saved.js";
import type { Store } from "../store/store.js";

export interface Pinning {
  readonly conversationId: string;
  readonly pinned: boolean;
  readonly now: Date;
  readonly force: boolean;
}

/** Pins a conversation nobody has open, or takes its pin away. */
export async function pinSaved(store: Store, { pinned, ...where }: Pinning): Promise<SaveOutcome> {
  const timestamp = where.now.toISOString();
  const payload = { type: "pinned", pinned } as const;
  const saved = await appendSaved(store, { ...where, line: { timestamp, type: "cody", payload } });
  if (saved.status !== "saved") return saved;
  return await store.indexPin(where.conversationId, { pinned, timestamp }, "pin");
}
