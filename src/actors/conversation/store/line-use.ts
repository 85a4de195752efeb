import { isRecord } from "../../../base/is-record.js";
import type { CodyPayload, OwnLine } from "../../../messages/rollout-line.js";
import type { LineObject } from "../../../rollouts/file/line-object.js";

/**
 * How long a line has an effect, if it is valid. `kept`: for ever. `context`, `usage`: until there is a newer one.
 * `retryableCodes`: until the history is replaced as a whole, if it has any effect at all. `replaces`: replaces the history.
 */
export type LineUse = "kept" | "context" | "usage" | "passing" | "replaces";

type Payload = LineObject["payload"];
type Uses<Type extends string> = Readonly<Record<Type, LineUse | ((payload: Payload) => LineUse)>>;

const eventUses: Uses<Extract<OwnLine, { type: "event_msg" }>["payload"]["type"]> = {
  task_started: "kept",
  task_complete: "kept",
  turn_aborted: "kept",
  token_count: (payload) => (isRecord(payload) && isRecord(payload["info"]) ? "usage" : "passing"),
  thread_rolled_back: "passing",
  user_message: "passing",
  agent_message: "passing",
  agent_reasoning: "passing",
  web_search_end: "passing",
  undo_completed: "passing",
  entered_review_mode: "passing",
  exited_review_mode: "passing",
  context_compacted: "passing",
  "(unknown)": "passing",
};

const recordUses: Uses<CodyPayload["type"]> = {
  history_replaced: "replaces",
  approval_requested: "kept",
  approval_decided: "kept",
  named: "kept",
  imported: "passing",
  blob: "passing",
  pinned: "kept",
};

const lineUses: Uses<OwnLine["type"]> = {
  session_meta: "kept",
  turn_context: "context",
  response_item: "passing",
  // A compaction without a new history builds it from the old one.
  compacted: (payload) => (isRecord(payload) && Array.isArray(payload["replacement_history"]) ? "replaces" : "passing"),
  event_msg: (payload) => useIn(eventUses, isRecord(payload) ? payload["type"] : undefined, payload),
  cody: (payload) => useIn(recordUses, isRecord(payload) ? payload["type"] : undefined, payload),
};

/** Judged by its type only: validating it would take as long as parsing it. */
export function lineUse({ type, payload }: LineObject): LineUse {
  return useIn(lineUses, type, payload);
}

/** Whether the line has no effect once the history is replaced as a whole. */
export function isDroppedByReplacement(value: LineObject): boolean {
  const use = lineUse(value);
  return use === "passing" || use === "replaces";
}

/** Whether the line makes some earlier lines obsolete. */
export function replacesEarlierLines(value: LineObject): boolean {
  const use = lineUse(value);
  return use === "context" || use === "usage" || use === "replaces";
}

/** Whether the line may change the transcript; it is not validated. */
export function isShownLine({ type, payload }: LineObject): boolean {
  if (!isRecord(payload)) return false;
  if (type === "response_item") return shownItems.has(payload["type"]);
  if (type === "event_msg") return payload["type"] === "thread_rolled_back";
  return type === "compacted" || (type === "cody" && payload["type"] === "history_replaced");
}

const shownItems: ReadonlySet<unknown> = new Set(["message", "reasoning", "web_search_call"]);

function useIn(uses: Uses<string>, type: unknown, payload: Payload): LineUse {
  const use = typeof type === "string" && Object.hasOwn(uses, type) ? uses[type] : undefined;
  return typeof use === "function" ? use(payload) : (use ?? "passing");
}
