import { CompactionNotes } from "../../../messages/compaction.js";
import { isRecord, fieldsOf, textOf } from "../../../base/is-record.js";
import { messageText, ResponseItem } from "../../../messages/response-item.js";
import { addUsage, noTokens, TokenUsage, TokenUsageInfo } from "../../../messages/token-usage.js";
import { isoTime } from "../lines/detect-format.js";
import { applyToHistory } from "../../file/history.js";
import type { LineObject } from "../../file/lines.js";
import { shownEvents } from "../../turns.js";
import { codexRecords } from "../codex/read.js";
import { type Fields } from "../import/parts.js";
import type { Losses, SourceRecord } from "../import/source.js";

const knownItem = ResponseItem.options[0];

/** Whether a JSON value was written by `cody export --format json`. */
export function isCodyExport(value: Fields): boolean {
  return value["format"] === "cody" && Array.isArray(value["turns"]);
}

/** Yields the records of an exported conversation: its turns, with the changes of the history between them. */
export function* codyExportRecords(exported: Fields, losses: Losses): Generator<SourceRecord> {
  const reading = new ExportReading(exported, losses);
  const history: ResponseItem[] = [];
  for (const value of reading.lines()) {
    for (const record of codexRecords(value, losses)) {
      if (record.type === "line") applyToHistory(history, record.line);
      yield record;
    }
  }
  const items = listOf(exported["history"]).filter((item) => knownItem.safeParse(item).success);
  // Exports of older versions do not contain the histories after compactions.
  if (JSON.stringify(items) === JSON.stringify(history)) return;
  const payload = { type: "history_replaced", items };
  yield* codexRecords({ timestamp: reading.time, type: "cody", payload }, losses);
}

class ExportReading {
  readonly #exported: Fields;
  readonly #losses: Losses;
  readonly #snapshot: Fields;
  #total = noTokens;
  /** Time of the newest line. */
  time: string;

  constructor(exported: Fields, losses: Losses) {
    this.#exported = exported;
    this.#losses = losses;
    this.#snapshot = fieldsOf(exported["config_snapshot"]);
    this.time = isoTime(exported["created_at"]);
  }

  *lines(): Generator<LineObject> {
    const turns = listOf(this.#exported["turns"]).filter((turn) => this.#isObject(turn));
    const lastCounted = turns.findLast((turn) => usageOf(turn).total_tokens > 0);
    for (const turn of turns) yield* this.#turnLines(turn, turn === lastCounted);
  }

  *#turnLines(turn: Fields, isLastCounted: boolean): Generator<LineObject> {
    const id = textOf(turn["turn_id"]);
    this.time = isoTime(turn["timestamp"] ?? this.time);
    if (id !== undefined) {
      const started_at = Math.floor(Date.parse(this.time) / 1000);
      yield this.#event({ type: "task_started", turn_id: id, started_at });
    }
    yield* this.#contextLine(turn, id);
    yield* this.#entryLines(turn);
    for (const info of this.#counts(usageOf(turn), isLastCounted)) yield this.#event({ type: "token_count", info });
    const end = id === undefined ? undefined : endOf(turn, id);
    if (end !== undefined) yield this.#event(end);
  }

  /**
   * Writes a turn's context. Only the newest turn is exported with all settings; the policies of the others are
   * unknown.
   */
  *#contextLine(turn: Fields, id: string | undefined): Generator<LineObject> {
    const model = textOf(turn["model"]);
    if (model === undefined) return;
    const { provider: _provider, ...newest } = this.#snapshot;
    const isNewest = id !== undefined && newest["turn_id"] === id;
    const unknown = { cwd: newest["cwd"] ?? "/", approval_policy: null, sandbox_policy: { type: "unknown" } };
    const settings = isNewest ? newest : { ...unknown, summary: "auto" };
    const provider = textOf(turn["provider"]);
    const played = { model, ...(provider === undefined ? {} : { provider }) };
    const payload = { ...(id === undefined ? {} : { turn_id: id }), ...settings, ...played };
    yield { timestamp: this.time, type: "turn_context", payload };
  }

  *#entryLines(turn: Fields): Generator<LineObject> {
    const items = listOf(turn["items"]);
    const changes = listOf(turn["changes"]).filter((change) => this.#isObject(change));
    for (const [index, item] of [...items, undefined].entries()) {
      for (const change of changes) {
        if (Math.min(Number(change["after_items"]) || 0, items.length) === index) yield this.#changeLine(change);
      }
      if (item !== undefined) yield* this.#itemLines(item);
    }
  }

  *#itemLines(item: unknown): Generator<LineObject> {
    const known = knownItem.safeParse(item);
    yield { timestamp: this.time, type: "response_item", payload: item };
    if (known.success) for (const event of shownEvents(known.data)) yield this.#event(event);
  }

  #changeLine(change: Fields): LineObject {
    const timestamp = isoTime(change["timestamp"] ?? this.time);
    this.time = timestamp;
    if (change["type"] === "rolled_back")
      return this.#event({ type: "thread_rolled_back", num_turns: change["turns"] });
    const items = change["replacement_history"];
    if (change["type"] === "replaced") {
      // Without the replacement history the new items must do; the end of the export has the complete history.
      const replaced = Array.isArray(items) ? items : listOf(change["unseen"]);
      return { timestamp, type: "cody", payload: { type: "history_replaced", items: replaced } };
    }
    const { type: _type, timestamp: _time, after_items: _after, summary, items: _count, ...rest } = change;
    const notes = CompactionNotes.safeParse(rest);
    const payload = {
      message: summary,
      ...(Array.isArray(items) ? { replacement_history: items } : {}),
      ...(notes.success ? { cody: notes.data } : {}),
    };
    return { timestamp, type: "compacted", payload };
  }

  /** Restores token counts: a turn has the sum of its requests, and the export has the newest count. */
  *#counts(usage: TokenUsage, isLastCounted: boolean): Generator<TokenUsageInfo> {
    const newest = TokenUsageInfo.safeParse(this.#exported["usage"]);
    const last = isLastCounted && newest.success ? newest.data : undefined;
    const before = last === undefined ? usage : without(usage, last.last_token_usage);
    this.#total = addUsage(this.#total, before);
    if (before.total_tokens > 0) yield { total_token_usage: this.#total, last_token_usage: before };
    if (last !== undefined) yield last;
  }

  #event(payload: Readonly<Record<string, unknown>>): LineObject {
    return { timestamp: this.time, type: "event_msg", payload };
  }

  #isObject(value: unknown): value is Fields {
    if (isRecord(value)) return true;
    this.#losses.count("unknown_parts");
    return false;
  }
}

function endOf(turn: Fields, turn_id: string): Readonly<Record<string, unknown>> | undefined {
  const { status, failure } = turn;
  if (status === "open") return undefined;
  if (status === "aborted") return { type: "turn_aborted", turn_id, reason: "interrupted" };
  const error = status === "failed" ? { error: { message: textOf(failure) ?? "" } } : {};
  return { type: "task_complete", turn_id, last_agent_message: lastAnswer(turn), ...error };
}

function lastAnswer(turn: Fields): string | null {
  const last = listOf(turn["items"]).findLast((item) => fieldsOf(item)["role"] === "assistant");
  const known = knownItem.safeParse(last);
  return known.success && known.data.type === "message" ? messageText(known.data) : null;
}

function usageOf(turn: Fields): TokenUsage {
  const usage = TokenUsage.safeParse(turn["token_usage"]);
  return usage.success ? usage.data : noTokens;
}

function without(all: TokenUsage, part: TokenUsage): TokenUsage {
  return {
    input_tokens: Math.max(0, all.input_tokens - part.input_tokens),
    cached_input_tokens: Math.max(0, all.cached_input_tokens - part.cached_input_tokens),
    output_tokens: Math.max(0, all.output_tokens - part.output_tokens),
    reasoning_output_tokens: Math.max(0, all.reasoning_output_tokens - part.reasoning_output_tokens),
    total_tokens: Math.max(0, all.total_tokens - part.total_tokens),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
