import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import type { CompactionNotes } from "../../../messages/compaction.js";
import { isPrintable } from "../../../base/text/conversation-name.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { RolloutLine, SessionMeta } from "../../../messages/rollout-line.js";
import type { TokenUsageInfo } from "../../../messages/token-usage.js";
import type { TurnContext } from "../../../messages/turn-context.js";
import { applyToHistory, replacesHistory } from "../../../rollouts/file/history.js";
import { applyToTurnStarts, type TurnStart } from "./turn-marks.js";

/** The state of a conversation: a fold over the lines of its rollout and nothing else. */
export interface ConversationState {
  meta: SessionMeta | undefined;
  /** The provider and model in the first line. */
  metadata: { provider?: string; model?: string } | undefined;
  /** The settings of the newest turn. */
  turnContext: TurnContext | undefined;
  /** Its name, and when it was set. */
  named: RecordedName | undefined;
  /** Whether it is pinned, and when that was set. */
  pin: RecordedPin | undefined;
  history: ResponseItem[];
  usage: TokenUsageInfo | null;
  /** The newest token count, and the number of items it covers together with the system prompt and tools. */
  counted: { readonly tokens: number; readonly items: number } | undefined;
  /** Notes of the last compaction. */
  compaction: CompactionNotes | undefined;
  /** Whether the history was ever replaced as a whole, even by an empty one. */
  isReplaced: boolean;
  /** Number of turns that have begun. */
  turns: number;
  /** The turn that has begun and not ended. */
  openTurn: { readonly id: string; readonly startedAt: string } | undefined;
  /** Marks the beginning of each turn in the history. */
  marks: TurnStart[];
  /** The approval requests of the open turn, by call. */
  approvals: Map<string, RecordedApproval>;
}

export interface RecordedName {
  readonly name: string;
  readonly timestamp: string;
}

export interface RecordedPin {
  readonly pinned: boolean;
  readonly timestamp: string;
}

/** An approval request, and its answer if there was one. */
export interface RecordedApproval {
  readonly request: ApprovalRequest;
  readonly decision?: ReviewDecision;
}

export function emptyState(): ConversationState {
  return {
    meta: undefined,
    metadata: undefined,
    turnContext: undefined,
    named: undefined,
    pin: undefined,
    history: [],
    usage: null,
    counted: undefined,
    compaction: undefined,
    isReplaced: false,
    turns: 0,
    openTurn: undefined,
    marks: [],
    approvals: new Map(),
  };
}

/** The only place where a conversation's state changes, both live and on resume. */
export function apply(state: ConversationState, line: RolloutLine): void {
  applyToHistory(state.history, line);
  if (replacesHistory(line)) state.isReplaced = true;
  switch (line.type) {
    case "session_meta":
      // A fork made by Codex also contains its parent's meta line; only the first counts.
      if (state.meta === undefined) {
        state.meta = line.payload;
        state.metadata = line.metadata as ConversationState["metadata"];
      }
      break;
    case "turn_context":
      state.turnContext = line.payload;
      break;
    case "event_msg":
      applyEvent(state, line.payload, line.timestamp);
      break;
    case "compacted":
      state.counted = undefined;
      state.compaction = line.payload.cody;
      break;
    case "cody":
      if (line.payload.type === "named") applyName(state, line.payload.name, line.timestamp);
      else if (line.payload.type === "pinned") state.pin = { pinned: line.payload.pinned, timestamp: line.timestamp };
      else applyRecord(state, line.payload);
      break;
    case "response_item":
    case "(unknown)":
      break;
  }
  applyToTurnStarts(state, line);
}

function applyEvent(
  state: ConversationState,
  msg: Extract<RolloutLine, { type: "event_msg" }>["payload"],
  timestamp: string,
): void {
  if (msg.type === "task_started") {
    state.turns += 1;
    state.openTurn = { id: msg.turn_id, startedAt: timestamp };
  } else if (msg.type === "task_complete" || msg.type === "turn_aborted") {
    state.openTurn = undefined;
    state.approvals.clear();
  } else if (msg.type === "token_count" && msg.info !== null) {
    state.usage = msg.info;
    state.counted = { tokens: msg.info.last_token_usage.total_tokens, items: state.history.length };
  } else if (msg.type === "thread_rolled_back") {
    state.counted = undefined;
  }
}

/** A file may contain an invalid name. */
function applyName(state: ConversationState, name: string, timestamp: string): void {
  if (name !== "" && isPrintable(name)) state.named = { name, timestamp };
}

function applyRecord(state: ConversationState, payload: Extract<RolloutLine, { type: "cody" }>["payload"]): void {
  if (payload.type === "history_replaced") {
    state.counted = undefined;
    state.compaction = undefined;
  } else if (payload.type === "approval_requested") {
    const { type: _, ...request } = payload;
    state.approvals.set(request.call_id, { request });
  } else if (payload.type === "approval_decided") {
    const asked = state.approvals.get(payload.call_id);
    if (asked !== undefined) state.approvals.set(payload.call_id, { ...asked, decision: payload.decision });
  }
}
