import type { CompactionNotes } from "../../messages/compaction.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { applyToHistory } from "../../rollouts/file/history.js";
import type { RolloutTurn, TurnMetadata } from "../../rollouts/turns.js";
import { messageOf } from "../runtime/failures.js";
import { within } from "../../base/time/waiting.js";
import type { Rollout } from "./rollout.js";
import type { CompactionRecord, TurnRecorder } from "./turn-recorder.js";

const deadlineMs = 10_000;
/** When this many records wait for the recorder, no new turn should begin. */
const maxWaitingRecords = 1_000;

/** A history that was replaced as a whole and is not yet recorded. */
interface Replacement {
  timestamp: string;
  /** The records for `appendCompacted`, in order. */
  readonly compactions: CompactionRecord[];
  /** Details of the compaction; absent when the history was replaced from outside. */
  notes: CompactionNotes | undefined;
  tokens?: number | undefined;
}

/**
 * Collects lines until their turn has ended, then passes the turn to a recorder, once. A replaced history follows as
 * its own turn whose metadata says so: a recorder that stores turns unchanged needs nothing else to resume a compacted
 * conversation.
 */
export class RecorderRollout implements Rollout {
  readonly path = null;
  readonly bytes = 0;
  readonly #recorder: TurnRecorder;
  readonly #conversationId: string;
  #metadata: TurnMetadata;
  #items: ResponseItem[] = [];
  #timestamp: string | undefined;
  #tokens: number | undefined;
  /**
   * The whole history since the rollout was opened; lines that do not contain the whole history occur only in imports.
   */
  readonly #history: ResponseItem[] = [];
  #isTurnOpen = false;
  #replacement: Replacement | undefined;
  /** The records that the recorder must still take, in order. */
  readonly #records: (() => Promise<void>)[] = [];
  #recording: Promise<SaveOutcome> | undefined;

  constructor(recorder: TurnRecorder, conversationId: string, metadata: TurnMetadata) {
    this.#recorder = recorder;
    this.#conversationId = conversationId;
    this.#metadata = metadata;
  }

  /** While it is full no turn ends and nothing is flushed, so reading this property makes it try again. */
  get full(): boolean {
    const full = this.#records.length >= maxWaitingRecords;
    if (full) void this.#recorded();
    return full;
  }

  append(line: OwnLine): void {
    applyToHistory(this.#history, line);
    switch (line.type) {
      case "response_item":
        this.#timestamp ??= line.timestamp;
        applyToHistory(this.#items, line);
        return;
      case "turn_context": {
        const { model, provider } = line.payload;
        this.#metadata = { ...this.#metadata, model, ...(provider === undefined ? {} : { provider }) };
        return;
      }
      case "event_msg":
        this.#event(line);
        return;
      case "compacted":
        this.#compacted(line);
        return;
      case "cody":
        if (line.payload.type === "history_replaced") this.#replaced(line.timestamp, undefined);
        return;
      case "session_meta":
        return;
    }
  }

  /** The recorder does its own redaction. */
  takeRedacted(): number {
    return 0;
  }

  /** A running turn cannot be recorded yet; that is not an error. */
  async flush(): Promise<SaveOutcome> {
    if (!this.#isTurnOpen && this.#replacement !== undefined) this.#endTurn();
    const recorded = this.#recorded();
    if (!(await within(recorded, deadlineMs))) {
      return { status: "not_saved", reason: `the recorder did not answer in ${deadlineMs / 1000} s` };
    }
    return await recorded;
  }

  close(): Promise<SaveOutcome> {
    this.#endTurn();
    return this.flush();
  }

  /** A slow recording continues; later callers wait for it instead of recording the same turn again. */
  #recorded(): Promise<SaveOutcome> {
    this.#recording ??= this.#record().finally(() => {
      this.#recording = undefined;
    });
    return this.#recording;
  }

  async #record(): Promise<SaveOutcome> {
    try {
      for (let next = this.#records[0]; next !== undefined; next = this.#records[0]) {
        await next();
        this.#records.shift();
      }
      return { status: "saved" };
    } catch (error) {
      return { status: "not_saved", reason: messageOf(error) };
    }
  }

  #event({ payload, timestamp }: Extract<OwnLine, { type: "event_msg" }>): void {
    if (payload.type === "task_started") {
      if (this.#replacement !== undefined) this.#endTurn();
      this.#isTurnOpen = true;
      this.#timestamp = timestamp;
    } else if (payload.type === "task_complete" || payload.type === "turn_aborted") this.#endTurn();
    else if (payload.type === "token_count") this.#count(payload.info?.last_token_usage.total_tokens);
    else if (payload.type === "thread_rolled_back") this.#replaced(timestamp, undefined);
  }

  #count(tokens: number | undefined): void {
    if (tokens === undefined) return;
    if (this.#replacement === undefined) this.#tokens = tokens;
    else this.#replacement.tokens = tokens;
  }

  #replaced(timestamp: string, notes: CompactionNotes | undefined): Replacement {
    this.#replacement = { timestamp, compactions: this.#replacement?.compactions ?? [], notes };
    return this.#replacement;
  }

  #compacted({ payload, timestamp }: Extract<OwnLine, { type: "compacted" }>): void {
    const truncatedCount = payload.cody?.truncated_count ?? 0;
    const record = { timestamp: Date.parse(timestamp), summary: payload.message, truncatedCount };
    this.#replaced(timestamp, payload.cody).compactions.push(record);
  }

  #endTurn(): void {
    if (this.#items.length > 0) {
      const tokens = this.#tokens === undefined ? {} : { tokens: this.#tokens };
      const turn = {
        timestamp: Date.parse(this.#timestamp ?? ""),
        items: this.#items,
        metadata: { ...this.#metadata, ...tokens },
      };
      this.#records.push(() => this.#recorder.appendTurn(this.#conversationId, turn));
    }
    this.#items = [];
    this.#timestamp = undefined;
    this.#tokens = undefined;
    this.#isTurnOpen = false;
    if (this.#replacement !== undefined) this.#recordReplacement(this.#replacement);
    this.#replacement = undefined;
  }

  /** Records the compactions themselves if the recorder needs them, then the resulting history. */
  #recordReplacement({ timestamp, compactions, notes, tokens }: Replacement): void {
    if (this.#recorder.keepsReplacements !== true) {
      for (const record of compactions) {
        this.#records.push(async () => this.#recorder.appendCompacted?.(this.#conversationId, record));
      }
    }
    const turn: RolloutTurn = {
      timestamp: Date.parse(timestamp),
      items: [...this.#history],
      metadata: {
        ...this.#metadata,
        ...(tokens === undefined ? {} : { tokens }),
        replaces: true,
        ...(notes === undefined ? {} : { compaction: notes }),
      },
    };
    this.#records.push(() => this.#recorder.appendTurn(this.#conversationId, turn));
  }
}
