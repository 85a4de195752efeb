import { v7 as uuidv7 } from "uuid";
import { isRealUserMessage } from "../base/codex/context-message.js";
import { isRecord } from "../base/is-record.js";
import type { CompactionNotes } from "../messages/compaction.js";
import { type MessageItem, messageText, type ResponseItem } from "../messages/response-item.js";
import type { OwnLine, RolloutLine } from "../messages/rollout-line.js";
import { noTokens } from "../messages/token-usage.js";
import { sandboxPolicy } from "../messages/tools/policy.js";
import { applyToHistory } from "./file/history.js";
import { milliseconds } from "./formats/lines/detect-format.js";

export interface TurnMetadata {
  provider?: string;
  model?: string;
  /** Total tokens of the turn's last model call. */
  tokens?: number;
  /** Set when the items are the whole history from here on, because it was compacted, replaced or cleared. */
  replaces?: true;
  /** Details of the compaction, for a compacted history. */
  compaction?: CompactionNotes;
}

/** One turn: the user's message and everything until the model stopped calling tools. */
export interface RolloutTurn {
  /** Milliseconds since 1970; values below 10^11 are treated as seconds. */
  timestamp: number;
  items: ResponseItem[];
  metadata?: TurnMetadata;
}

/**
 * Groups lines into turns. The concatenated items of all turns are the history: after a compaction or rollback,
 * earlier turns contain only what is left of them.
 */
export class TurnGrouping {
  readonly #turns: RolloutTurn[] = [];
  /** How the current turn began: with `task_started`, or, in old files, with its first item. */
  #open: "none" | "framed" | "unframed" = "none";
  #answered = false;
  #isCleared = false;
  /** Metadata of a turn that was recorded before its first item. */
  #next: TurnMetadata = {};

  add(line: RolloutLine): void {
    switch (line.type) {
      case "session_meta":
        if (this.#turns.length === 0) this.#remember(sessionMetadata(line));
        return;
      case "turn_context":
        this.#remember({ model: line.payload.model, ...optional("provider", line.payload.provider) });
        return;
      case "response_item":
        this.#addItem(line.payload, line);
        return;
      case "event_msg":
        if (line.payload.type === "thread_rolled_back") this.#applyReplacement(line);
        else this.#addEvent(line.payload, line.timestamp);
        return;
      case "compacted":
        this.#applyReplacement(line);
        return;
      case "cody":
        if (line.payload.type === "history_replaced") this.#applyReplacement(line);
        return;
      case "(unknown)":
        return;
    }
  }

  /** A cleared history is one turn without items. */
  get turns(): RolloutTurn[] {
    const turns = this.#turns.filter((turn) => turn.items.length > 0);
    const last = this.#turns.at(-1);
    if (turns.length > 0 || last === undefined || !this.#isCleared) return turns;
    return [{ ...last, items: [], metadata: { ...last.metadata, replaces: true } }];
  }

  #addItem(item: ResponseItem, line: Extract<RolloutLine, { type: "response_item" }>): void {
    const kept: ResponseItem[] = [];
    applyToHistory(kept, line);
    if (kept.length === 0) return;
    const user = isRealUserMessage(item);
    if (this.#open === "none" || (this.#open === "unframed" && user && this.#answered)) {
      this.#begin("unframed", line.timestamp);
    }
    if (item.type === "message" ? item.role === "assistant" : item.type !== "ghost_snapshot") this.#answered = true;
    this.#turns.at(-1)?.items.push(item);
  }

  #addEvent(event: Extract<RolloutLine, { type: "event_msg" }>["payload"], timestamp: string): void {
    if (event.type === "task_started") this.#begin("framed", timestamp);
    else if (event.type === "task_complete" || event.type === "turn_aborted") this.#open = "none";
    else if (event.type === "token_count" && event.info !== null) {
      const turn = this.#turns.at(-1);
      if (turn !== undefined) turn.metadata = { ...turn.metadata, tokens: event.info.last_token_usage.total_tokens };
    }
  }

  #begin(open: "framed" | "unframed", timestamp: string): void {
    const turn: RolloutTurn = { timestamp: epochMs(timestamp), items: [] };
    if (Object.keys(this.#next).length > 0) turn.metadata = this.#next;
    this.#turns.push(turn);
    this.#next = {};
    this.#open = open;
    this.#answered = false;
  }

  #remember(metadata: TurnMetadata): void {
    const turn = this.#open === "none" ? undefined : this.#turns.at(-1);
    if (turn === undefined) Object.assign(this.#next, metadata);
    else turn.metadata = { ...turn.metadata, ...metadata };
  }

  /** Applies a line that changes earlier history: remaining items keep their turns, new ones become one turn. */
  #applyReplacement(line: RolloutLine): void {
    const before = this.#turns.flatMap((turn) => turn.items);
    const after = [...before];
    applyToHistory(after, line);
    this.#isCleared ||= after.length === 0;
    if (after.length === before.length && after.every((item, index) => item === before[index])) return;
    if (after.every((item, index) => item === before[index])) this.#cut(after.length);
    else this.#replace(after, "timestamp" in line ? line.timestamp : "");
  }

  #cut(length: number): void {
    let left = length;
    for (const turn of this.#turns) {
      turn.items.length = Math.min(turn.items.length, left);
      left -= turn.items.length;
    }
  }

  #replace(items: ResponseItem[], timestamp: string): void {
    const merged = this.#turns.reduce<TurnMetadata>((all, turn) => ({ ...all, ...turn.metadata }), {});
    const { tokens: _, ...metadata } = merged;
    const turn: RolloutTurn = { timestamp: epochMs(timestamp), items };
    if (Object.keys(metadata).length > 0) turn.metadata = metadata;
    this.#turns.splice(0, this.#turns.length, turn);
  }
}

/** Returns the lines of one turn, or of a replaced history, in the form of cody and Codex. */
export function linesOfTurn(turn: RolloutTurn, now: number, turnId: string = uuidv7()): OwnLine[] {
  const at = Number.isFinite(turn.timestamp) ? milliseconds(turn.timestamp) : now;
  const timestamp = new Date(at).toISOString();
  const event = (payload: Extract<OwnLine, { type: "event_msg" }>["payload"]): OwnLine => ({
    timestamp,
    type: "event_msg",
    payload,
  });
  const { model, provider, tokens, replaces } = turn.metadata ?? {};
  if (replaces === true) {
    return [replacingLine(turn, timestamp), ...(tokens === undefined ? [] : [event(tokenCount(tokens))])];
  }
  const answers = turn.items.flatMap((item) =>
    item.type === "message" && item.role === "assistant" ? [messageText(item)] : [],
  );
  return [
    event({ type: "task_started", turn_id: turnId, started_at: Math.floor(at / 1000) }),
    ...(model === undefined ? [] : [contextLine(timestamp, turnId, model, provider)]),
    ...turn.items.flatMap((item): OwnLine[] => [
      { timestamp, type: "response_item", payload: item },
      ...shownEvents(item).map(event),
    ]),
    ...(tokens === undefined ? [] : [event(tokenCount(tokens))]),
    event({ type: "task_complete", turn_id: turnId, last_agent_message: answers.at(-1) ?? null }),
  ];
}

function replacingLine({ items, metadata }: RolloutTurn, timestamp: string): OwnLine {
  const notes = metadata?.compaction;
  if (notes === undefined) return { timestamp, type: "cody", payload: { type: "history_replaced", items } };
  const summary = items.findLast((item): item is MessageItem => item.type === "message" && item.summary === true);
  const message = summary === undefined ? "" : messageText(summary);
  return { timestamp, type: "compacted", payload: { message, replacement_history: items, cody: notes } };
}

type EventPayload = Extract<OwnLine, { type: "event_msg" }>["payload"];

/** Returns the event for an item, because Codex lists only items that have one. */
export function shownEvents(item: ResponseItem): EventPayload[] {
  if (isRealUserMessage(item)) return [{ type: "user_message", message: messageText(item) }];
  if (item.type === "message" && item.role === "assistant") {
    return [{ type: "agent_message", message: messageText(item) }];
  }
  return [];
}

/** Callers of the recorder specify no policies, so the strictest ones are recorded. */
function contextLine(timestamp: string, turnId: string, model: string, provider: string | undefined): OwnLine {
  return {
    timestamp,
    type: "turn_context",
    payload: {
      turn_id: turnId,
      cwd: "/",
      approval_policy: "untrusted",
      sandbox_policy: sandboxPolicy("read-only"),
      model,
      summary: "auto",
      ...optional("provider", provider),
    },
  };
}

function tokenCount(tokens: number): EventPayload {
  const usage = { ...noTokens, total_tokens: tokens };
  return { type: "token_count", info: { total_token_usage: usage, last_token_usage: usage } };
}

function sessionMetadata(line: Extract<RolloutLine, { type: "session_meta" }>): TurnMetadata {
  const extra = isRecord(line.metadata) ? line.metadata : {};
  const provider = typeof extra["provider"] === "string" ? extra["provider"] : line.payload.model_provider;
  const model = typeof extra["model"] === "string" ? extra["model"] : undefined;
  return { ...optional("provider", provider ?? undefined), ...optional("model", model) };
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

/** Parses the time of a line; an invalid one becomes 1970, because the order comes from the file anyway. */
function epochMs(timestamp: string): number {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? 0 : ms;
}

/** Tracks after which line each turn ends. The number of a rolled-back turn is used again for the next. */
export class TurnEnds {
  /** For each turn, the number of lines up to its end. */
  readonly #ends: number[] = [];
  #lines = 0;
  #isOpen = false;
  /** Whether the file has turn start events; in old files a turn begins with a user message. */
  #isFramed = false;

  add(line: RolloutLine): void {
    if (line.type === "event_msg" && line.payload.type === "task_started") {
      this.#isFramed = true;
      this.#begin();
    } else if (!this.#isFramed && line.type === "response_item" && isRealUserMessage(line.payload)) this.#begin();
    this.#lines += 1;
    if (this.#isOpen) this.#ends[this.#ends.length - 1] = this.#lines;
    if (line.type !== "event_msg") return;
    if (line.payload.type === "task_complete" || line.payload.type === "turn_aborted") this.#isOpen = false;
    else if (line.payload.type === "thread_rolled_back") this.#rollBack(line.payload.num_turns);
  }

  get turns(): number {
    return this.#ends.length;
  }

  /** Returns the number of lines up to the end of a turn, counted from 1; undefined if there is no such turn. */
  endOf(turn: number): number | undefined {
    return this.#ends[turn - 1];
  }

  #begin(): void {
    this.#ends.push(this.#lines);
    this.#isOpen = true;
  }

  #rollBack(turns: number): void {
    this.#ends.length = Math.max(0, this.#ends.length - turns);
    this.#isOpen = false;
  }
}
