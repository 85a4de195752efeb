import type { ResponseItem } from "../../messages/response-item.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { applyToHistory } from "../../rollouts/history.js";
import type { TurnMetadata } from "../../rollouts/turns.js";
import { messageOf } from "../system/failures.js";
import { within } from "../../tools/within.js";
import type { TurnRecorder } from "./recorder.js";
import type { Rollout } from "./rollout.js";

const deadlineMs = 10_000;
/** When so many turns wait for the recorder no new one should begin. */
const maxWaitingRecords = 1_000;

/** Collects lines until their turn has ended, then hands the turn to a recorder, once. */
export class RecorderRollout implements Rollout {
  readonly path = null;
  readonly bytes = 0;
  readonly #recorder: TurnRecorder;
  readonly #conversationId: string;
  #metadata: TurnMetadata;
  #items: ResponseItem[] = [];
  #timestamp: string | undefined;
  #tokens: number | undefined;
  /** What the recorder must still take, in order. */
  readonly #records: (() => Promise<void>)[] = [];
  #recording: Promise<SaveOutcome> | undefined;
  /** What was lost and has not been said yet. */
  #lost: string | undefined;

  constructor(recorder: TurnRecorder, conversationId: string, metadata: TurnMetadata) {
    this.#recorder = recorder;
    this.#conversationId = conversationId;
    this.#metadata = metadata;
  }

  /** While it is full no turn ends and nobody flushes, so whoever asks makes it try again. */
  get full(): boolean {
    const full = this.#records.length >= maxWaitingRecords;
    if (full) void this.#recorded();
    return full;
  }

  append(line: OwnLine): void {
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
        if (line.payload.type === "history_replaced") this.#lost = "the recorder cannot keep a replaced history";
        return;
      case "session_meta":
        return;
    }
  }

  /** Its recorder decides what it keeps. */
  takeRedacted(): number {
    return 0;
  }

  /** A turn that still runs cannot be recorded yet, and nothing is wrong with that. */
  async flush(): Promise<SaveOutcome> {
    const recorded = this.#recorded();
    if (!(await within(recorded, deadlineMs))) {
      return { status: "not_saved", reason: `the recorder did not answer in ${deadlineMs / 1000} s` };
    }
    const outcome = await recorded;
    const reason = this.#lost;
    // What was lost is said where a turn ends, and not to a call in the middle of one.
    if (outcome.status === "not_saved" || reason === undefined || this.#items.length > 0) return outcome;
    this.#lost = undefined;
    return { status: "not_saved", reason };
  }

  close(): Promise<SaveOutcome> {
    this.#endTurn();
    return this.flush();
  }

  /** A recording that is late goes on; who comes meanwhile waits for it instead of recording the same turn again. */
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
    if (payload.type === "task_started") this.#timestamp = timestamp;
    else if (payload.type === "task_complete" || payload.type === "turn_aborted") this.#endTurn();
    else if (payload.type === "token_count") this.#tokens = payload.info?.last_token_usage.total_tokens ?? this.#tokens;
  }

  #compacted({ payload, timestamp }: Extract<OwnLine, { type: "compacted" }>): void {
    const truncatedCount = payload.cody?.truncated_count ?? 0;
    const record = { timestamp: Date.parse(timestamp), summary: payload.message, truncatedCount };
    this.#records.push(async () => this.#recorder.appendCompacted?.(this.#conversationId, record));
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
  }
}
