import { reasoningTexts } from "../../history-messages.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
import { messageText, type ReasoningItem, type ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { Losses, AnsweredBy, SourceRecord } from "./source.js";

export interface TurnLinesParts {
  readonly losses: Losses;
  readonly cwd: string;
  /**
   * How to write reasoning of other models: as events for Codex, which shows events but sends items back to its
   * model.
   */
  readonly thoughts: "items" | "events";
  newId(): string;
  /** Maps a provider to one that a resumed conversation can use. */
  knownProvider(name: string | undefined): string | undefined;
}

interface OpenTurn {
  readonly id: string;
  answered: boolean;
  /** The model's last answer, if nothing followed it. */
  lastAnswer: string | undefined;
  timestamp: string;
}

/** Builds rollout lines from the records of a source, with turn start and end events as in Codex. */
export class TurnLines {
  readonly #parts: TurnLinesParts;
  readonly #calls: CallMatcher;
  #by: AnsweredBy = {};
  #turn: OpenTurn | undefined;
  #items = 0;

  constructor(parts: TurnLinesParts) {
    this.#parts = parts;
    this.#calls = new CallMatcher(parts.losses);
  }

  get items(): number {
    return this.#items;
  }

  linesOf(record: Exclude<SourceRecord, { type: "named" }>): OwnLine[] {
    switch (record.type) {
      case "played_by":
        this.#by = record.by;
        return [];
      case "item":
        return this.#itemLines(record);
      case "replaced":
        return [this.#replaced(record)];
      case "line":
        return [...this.#endTurn(), ...this.#codexLine(record.line)];
      default:
        return record satisfies never;
    }
  }

  end(): OwnLine[] {
    const lines = this.#endTurn();
    this.#calls.end();
    return lines;
  }

  #replaced({ timestamp, summary, items }: Extract<SourceRecord, { type: "replaced" }>): OwnLine {
    const history = items.filter((item) => !this.#isOnlyShown(item));
    return { timestamp, type: "compacted", payload: { message: summary, replacement_history: history } };
  }

  /** Passes on a line of Codex, which contains turn boundaries of its own. */
  #codexLine(line: OwnLine): OwnLine[] {
    if (line.type !== "response_item") return [line];
    const { payload, timestamp } = line;
    // Reasoning without an origin stays an item, because Codex itself wrote unencrypted reasoning.
    if (payload.type === "reasoning" && payload.origin !== undefined && this.#isOnlyShown(payload)) {
      return this.#shownThought(payload, timestamp);
    }
    this.#items += 1;
    return [line];
  }

  #itemLines({ timestamp, item, by }: Extract<SourceRecord, { type: "item" }>): OwnLine[] {
    if (by !== undefined) this.#by = by;
    if (!this.#calls.takes(item)) return [];
    const isUsers = isRealUserMessage(item);
    const before = this.#turn === undefined || (isUsers && this.#turn.answered) ? this.#beginTurn(timestamp) : [];
    this.#note(item, timestamp);
    if (this.#isOnlyShown(item)) return [...before, ...this.#shownThought(item, timestamp)];
    this.#items += 1;
    return [
      ...before,
      { timestamp, type: "response_item", payload: item },
      ...eventsFor(item).map((payload): OwnLine => ({ timestamp, type: "event_msg", payload })),
    ];
  }

  #isOnlyShown(item: ResponseItem): item is ReasoningItem {
    return this.#parts.thoughts === "events" && isForeignReasoning(item);
  }

  #shownThought(item: ReasoningItem, timestamp: string): OwnLine[] {
    this.#parts.losses.count("thoughts");
    return reasoningTexts(item).map((text) => ({
      timestamp,
      type: "event_msg",
      payload: { type: "agent_reasoning", text },
    }));
  }

  #note(item: ResponseItem, timestamp: string): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.timestamp = timestamp;
    const isAnswer = item.type === "message" && item.role === "assistant";
    if (isAnswer || item.type !== "message") turn.answered = true;
    turn.lastAnswer = isAnswer ? messageText(item) : undefined;
  }

  #beginTurn(timestamp: string): OwnLine[] {
    const ended = this.#endTurn();
    const id = this.#parts.newId();
    this.#turn = { id, answered: false, lastAnswer: undefined, timestamp };
    const startedAt = Math.floor(Date.parse(timestamp) / 1000);
    const { cwd } = this.#parts;
    const provider = this.#parts.knownProvider(this.#by.provider);
    const { model } = this.#by;
    const started: OwnLine = {
      timestamp,
      type: "event_msg",
      payload: { type: "task_started", turn_id: id, started_at: startedAt },
    };
    if (model === undefined) return [...ended, started];
    // The source does not record any policies.
    const policies = { approval_policy: null, sandbox_policy: { type: "unknown" } };
    const recorded = { model, summary: "auto", ...(provider === undefined ? {} : { provider }) };
    return [
      ...ended,
      started,
      { timestamp, type: "turn_context", payload: { turn_id: id, cwd, ...policies, ...recorded } },
    ];
  }

  #endTurn(): OwnLine[] {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) return [];
    const { id, lastAnswer, timestamp } = turn;
    const payload =
      lastAnswer === undefined
        ? ({ type: "turn_aborted", turn_id: id, reason: "interrupted" } as const)
        : ({ type: "task_complete", turn_id: id, last_agent_message: lastAnswer } as const);
    return [{ timestamp, type: "event_msg", payload }];
  }
}

type EventPayload = Extract<OwnLine, { type: "event_msg" }>["payload"];

/** Returns the event for an item, because Codex lists and shows only items that have one. */
function eventsFor(item: ResponseItem): EventPayload[] {
  if (isRealUserMessage(item)) return [{ type: "user_message", message: messageText(item) }];
  if (item.type !== "message" || item.role !== "assistant") return [];
  return [{ type: "agent_message", message: messageText(item) }];
}

/** Matches calls with outputs; outputs without a call are dropped, because no provider accepts them. */
class CallMatcher {
  readonly #losses: Losses;
  readonly #open = new Map<string, number>();

  constructor(losses: Losses) {
    this.#losses = losses;
  }

  /** Whether an item is imported. */
  takes(item: ResponseItem): boolean {
    if (item.type === "function_call" || item.type === "custom_tool_call") this.#count(item.call_id, 1);
    if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return true;
    if (this.#open.has(item.call_id)) {
      this.#count(item.call_id, -1);
      return true;
    }
    this.#losses.count("stray_outputs");
    return false;
  }

  /** Counts the calls that remained unanswered. */
  end(): void {
    for (const times of this.#open.values()) this.#losses.count("unanswered_calls", times);
    this.#open.clear();
  }

  #count(id: string, change: number): void {
    const open = (this.#open.get(id) ?? 0) + change;
    if (open > 0) this.#open.set(id, open);
    else this.#open.delete(id);
  }
}

/**
 * Whether a reasoning item would prevent Codex from continuing the history: Codex sends back every item it finds, and
 * its API accepts only reasoning that it encrypted itself.
 */
function isForeignReasoning(item: ResponseItem): item is ReasoningItem {
  if (item.type !== "reasoning") return false;
  return typeof item.encrypted_content !== "string" || (item.origin !== undefined && item.origin.api !== "responses");
}
