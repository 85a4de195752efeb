import { isRealUserMessage } from "../../../base/codex/context-message.js";
import { isPrintable } from "../../../base/text/conversation-name.js";
import type { CompactionNotes } from "../../../messages/compaction.js";
import type { EventMsg } from "../../../messages/event.js";
import { type ResponseItem, messageText, webSearchQuery } from "../../../messages/response-item.js";
import type { RolloutLine, SessionMeta, Compacted } from "../../../messages/rollout-line.js";
import { type TokenUsageInfo, addUsage, noTokens, type TokenUsage } from "../../../messages/token-usage.js";
import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import type { TurnContext } from "../../../messages/turn-context.js";
import { applyToHistory, replacesHistory } from "../../../rollouts/file/history.js";

/** Number of recorded submissions that are recognized when they are sent again: the newest ones. */
const maxSubmissions = 1_000;

/** Maximum number of characters shown; the newest messages are kept. */
const maxShownChars = 2 * 1024 * 1024;

const cutNotice = "Earlier messages are not shown. The file of the conversation has all of them.";

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
  /** The event that ended the last turn. */
  lastEnd: TurnEndMsg | undefined;
  /** Marks the beginning of each turn in the history. */
  turnStarts: TurnStart[];
  /** The approval requests of the open turn, by call. */
  approvals: Map<string, RecordedApproval>;
  /** The ids of recorded submissions, by their key, or by the id itself if they have none. */
  submissions: Map<string, string>;
}

type TurnEndMsg = Extract<EventMsg, { type: "task_complete" | "turn_aborted" }>;

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
  readonly requestedAt: string;
  /** An answer that is not applied yet, so that the call has not run. */
  readonly answer?: ReviewDecision;
  /** The answer that was applied: the call may have run. */
  readonly decision?: ReviewDecision;
  /** The arguments with which it may have run, if the answer changed them. */
  readonly changedArguments?: Readonly<Record<string, unknown>>;
}

/** Whether nobody has answered a request. */
export function isUnanswered(approval: RecordedApproval | undefined): boolean {
  return approval !== undefined && approval.decision === undefined && approval.answer === undefined;
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
    lastEnd: undefined,
    turnStarts: [],
    approvals: new Map(),
    submissions: new Map(),
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
      else applyRecord(state, line.payload, line.timestamp);
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
    state.lastEnd = msg;
    state.approvals.clear();
  } else if (msg.type === "token_count" && msg.info !== null) {
    state.usage = msg.info;
    state.counted = { tokens: msg.info.last_token_usage.total_tokens, items: state.history.length };
  } else if (msg.type === "thread_rolled_back") {
    state.counted = undefined;
  } else if (msg.type === "user_message" && msg.submission_id !== undefined) {
    noteSubmission(state.submissions, msg.key ?? msg.submission_id, msg.submission_id);
  }
}

function noteSubmission(submissions: Map<string, string>, name: string, id: string): void {
  submissions.set(name, id);
  const [oldest] = submissions.keys();
  if (submissions.size > maxSubmissions && oldest !== undefined) submissions.delete(oldest);
}

/** A file may contain an invalid name. */
function applyName(state: ConversationState, name: string, timestamp: string): void {
  if (name !== "" && isPrintable(name)) state.named = { name, timestamp };
}

function applyRecord(
  state: ConversationState,
  payload: Extract<RolloutLine, { type: "cody" }>["payload"],
  timestamp: string,
): void {
  if (payload.type === "history_replaced") {
    state.counted = undefined;
    state.compaction = undefined;
  } else if (payload.type === "approval_requested") {
    const { type: _, ...request } = payload;
    state.approvals.set(request.call_id, { request, requestedAt: timestamp });
  } else if (payload.type === "approval_decided") {
    const pending = state.approvals.get(payload.call_id);
    if (pending === undefined) return;
    const changed = payload.arguments === undefined ? {} : { changedArguments: payload.arguments };
    state.approvals.set(payload.call_id, { ...pending, decision: payload.decision, ...changed });
  } else if (payload.type === "approval_answered") {
    const pending = state.approvals.get(payload.call_id);
    if (pending !== undefined && pending.request.approval_id === payload.approval_id && isUnanswered(pending))
      state.approvals.set(payload.call_id, { ...pending, answer: payload.decision });
  }
}

/** The beginning of a turn in the history. */
interface TurnStart {
  /** Null for a turn without an id, and for the remains of turns whose history was replaced. */
  readonly id: string | null;
  readonly timestamp: string;
  /** The index of its first item. */
  readonly from: number;
  /** Total token usage of its model calls. */
  usage: TokenUsage;
}

interface HistoryWithTurnStarts {
  readonly history: readonly ResponseItem[];
  readonly openTurn: { readonly id: string } | undefined;
  readonly turnStarts: TurnStart[];
}

/** One step of the fold that records where turns begin; the line has already been applied to the rest of the state. */
function applyToTurnStarts({ history, openTurn, turnStarts: marks }: HistoryWithTurnStarts, line: RolloutLine): void {
  switch (line.type) {
    case "response_item":
      if (openTurn === undefined && isRealUserMessage(line.payload) && history.at(-1) === line.payload) {
        marks.push({ id: null, timestamp: line.timestamp, from: history.length - 1, usage: noTokens });
      }
      return;
    case "event_msg":
      applyEventToTurnStarts(history, marks, line);
      return;
    case "compacted":
      replace(line.timestamp);
      return;
    case "cody":
      if (line.payload.type === "history_replaced") replace(line.timestamp);
      return;
    case "session_meta":
    case "turn_context":
    case "(unknown)":
      return;
  }

  function replace(timestamp: string): void {
    marks.length = 0;
    if (history.length > 0) marks.push({ id: openTurn?.id ?? null, timestamp, from: 0, usage: noTokens });
  }
}

function applyEventToTurnStarts(
  history: readonly ResponseItem[],
  marks: TurnStart[],
  { payload, timestamp }: Extract<RolloutLine, { type: "event_msg" }>,
): void {
  if (payload.type === "task_started") {
    marks.push({ id: payload.turn_id, timestamp, from: history.length, usage: noTokens });
  } else if (payload.type === "thread_rolled_back") {
    while ((marks.at(-1)?.from ?? -1) >= history.length) marks.pop();
  } else if (payload.type === "token_count" && payload.info !== null) {
    const mark = marks.at(-1);
    if (mark !== undefined) mark.usage = addUsage(mark.usage, payload.info.last_token_usage);
  }
}

type ShownMsg = Extract<
  EventMsg,
  { type: "user_message" | "agent_message" | "agent_reasoning" | "web_search_end" | "warning" }
>;

/**
 * The messages that the user has seen in a conversation, built from the lines of its rollout. A compaction removes none
 * of them, and its summary is not one of them.
 */
export class Transcript {
  #messages: ShownMsg[] = [];
  #chars = 0;
  #isCut = false;

  add(line: RolloutLine): void {
    if (line.type === "response_item") this.#show([line.payload]);
    else if (line.type === "compacted") this.#hideSummary(line.payload);
    else if (line.type === "event_msg" && line.payload.type === "thread_rolled_back") {
      this.#rollBack(line.payload.num_turns);
    } else if (line.type === "cody" && line.payload.type === "history_replaced") {
      this.#messages = [];
      this.#chars = 0;
      this.#show(line.payload.items);
    }
  }

  /** Marks that earlier lines were not read. */
  leaveOut(): void {
    this.#isCut = true;
  }

  messages(): ShownMsg[] {
    this.#cut(maxShownChars);
    return this.#isCut ? [{ type: "warning", message: cutNotice }, ...this.#messages] : this.#messages;
  }

  #show(items: readonly ResponseItem[]): void {
    for (const item of items) {
      for (const msg of shownOf(item)) {
        this.#messages.push(msg);
        this.#chars += charsOf(msg);
      }
    }
    // Not for each message, because removing the first elements copies the list.
    if (this.#chars > 2 * maxShownChars) this.#cut(maxShownChars);
  }

  #cut(chars: number): void {
    let from = 0;
    while (this.#chars > chars && from < this.#messages.length - 1) {
      this.#chars -= charsOf(this.#messages[from]);
      from += 1;
    }
    if (from === 0) return;
    this.#isCut = true;
    this.#messages = this.#messages.slice(from);
  }

  /** Newer versions of Codex also write the summary as a model answer, directly before the compaction line. */
  #hideSummary({ message }: Compacted): void {
    const last = this.#messages.at(-1);
    if (last?.type === "agent_message" && last.message !== "" && message.endsWith(last.message)) this.#dropLast();
  }

  #rollBack(turns: number): void {
    let left = Math.min(turns, this.#messages.filter(({ type }) => type === "user_message").length);
    while (left > 0) {
      if (this.#messages.at(-1)?.type === "user_message") left -= 1;
      this.#dropLast();
    }
  }

  #dropLast(): void {
    this.#chars -= charsOf(this.#messages.pop());
  }
}

function shownOf(item: ResponseItem): ShownMsg[] {
  switch (item.type) {
    case "message":
      if (item.summary === true) return [];
      if (item.role === "assistant") return [{ type: "agent_message", message: messageText(item) }];
      return isRealUserMessage(item) ? [{ type: "user_message", message: messageText(item) }] : [];
    case "reasoning":
      return item.summary.map(({ text }) => ({ type: "agent_reasoning", text }));
    case "web_search_call": {
      const { id, action } = item;
      const query = webSearchQuery(action);
      return [{ type: "web_search_end", call_id: id ?? "", query, ...(action ? { action } : {}) }];
    }
    default:
      return [];
  }
}

function charsOf(msg: ShownMsg | undefined): number {
  if (msg === undefined) return 0;
  if (msg.type === "agent_reasoning") return msg.text.length;
  return msg.type === "web_search_end" ? msg.query.length : msg.message.length;
}
