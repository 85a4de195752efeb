import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { errorMessage } from "../../base/error-message.js";
import { labelledSummary } from "../../base/codex/codex-summary.js";
import { ConversationInUseError, ConversationNotFoundError, EmptyRolloutError } from "../../base/errors.js";
import { check } from "../../base/parse.js";
import { isConversationId, shownId } from "../../base/text/conversation-id.js";
import { within } from "../../base/time/waiting.js";
import { redactionRules } from "../../config/secrets/redact.js";
import { createTextRedactor } from "../../config/secrets/text-redactor.js";
import type { CompactionNotes } from "../../messages/compaction.js";
import { FailureError } from "../../messages/failure-error.js";
import { ResponseItem, withCodexParts } from "../../messages/response-item.js";
import type { SaveOutcome } from "../../messages/actors/rollout-writer.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { type LineEncoder, lineEncoder, sessionMetaLine } from "../../rollouts/file/encode.js";
import { applyToHistory } from "../../rollouts/file/history.js";
import { readRollout } from "../../rollouts/file/read.js";
import { type ConversationMetadata, listConversations } from "../../rollouts/list/list.js";
import { linesOfTurn, TurnGrouping, type RolloutTurn, type TurnMetadata } from "../../rollouts/turns.js";
import { openOutbox, type RolloutOutbox } from "./outbox.js";
import type { Rollout } from "./rollout.js";

const deadlineMs = 10_000;

/** When this many records wait for the recorder, no new turn should begin. */
const maxWaitingRecords = 1_000;

/** Maximum number of refused turns remembered per conversation; the oldest is forgotten first. */
const maxRefused = 1_000;

export interface RecorderOptions {
  /** Read for `XDG_RUNTIME_DIR`, without which sockets are created in `/tmp`, and for the secrets to redact. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly now?: () => Date;
}

interface OpenFile {
  readonly rollout: Rollout;
  /**
   * Turns that were refused and not given again. They are written with the next save, so giving them again must not
   * write them twice.
   */
  readonly refused: Set<string>;
}

/** Stores conversations as rollout files in one directory, turn by turn. */
export class RolloutRecorder implements TurnRecorder {
  readonly keepsReplacements = true;
  readonly #baseDir: string;
  readonly #now: () => Date;
  readonly #outbox: RolloutOutbox;
  readonly #encode: LineEncoder;
  readonly #files = new Map<string, Promise<OpenFile>>();

  constructor(baseDir: string, options: RecorderOptions = {}) {
    this.#baseDir = baseDir;
    this.#now = options.now ?? (() => new Date());
    const { env = {} } = options;
    this.#outbox = openOutbox(env);
    this.#encode = lineEncoder(createTextRedactor(redactionRules({}, env)));
  }

  /** Resolves when the turn is durable. A refused turn stays queued; passing it again only flushes again. */
  async appendTurn(conversationId: string, turn: RolloutTurn): Promise<void> {
    const items = check(z.array(ResponseItem), turn.items.map(withCodexParts), "turn.items");
    const lines = linesOfTurn({ ...turn, items }, this.#now().getTime());
    await this.#append(conversationId, turn.metadata ?? {}, keyOf(turn), lines);
  }

  async appendCompacted(conversationId: string, record: CompactionRecord): Promise<void> {
    const payload = { message: labelledSummary(record.summary), truncated_count: record.truncatedCount };
    const timestamp = new Date(record.timestamp).toISOString();
    await this.#append(conversationId, {}, keyOf(record), [{ timestamp, type: "compacted", payload }]);
  }

  async readRollout(conversationId: string): Promise<RolloutTurn[]> {
    const grouping = new TurnGrouping();
    for await (const { line } of readRollout(this.#pathOf(conversationId), conversationId)) grouping.add(line);
    const { turns } = grouping;
    if (turns.length === 0) throw new EmptyRolloutError(conversationId);
    return turns;
  }

  async list(): Promise<ConversationMetadata[]> {
    const summaries = await listConversations(this.#baseDir);
    return summaries.map(({ id, updatedAt, provider, model }) => ({
      id,
      updatedAt,
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
    }));
  }

  /** Saves waiting lines and releases files, locks and the writer. */
  close(): Promise<void> {
    return this.#outbox.stop();
  }

  async #append(conversationId: string, metadata: TurnMetadata, key: string, lines: readonly OwnLine[]): Promise<void> {
    const { rollout, refused } = await this.#open(conversationId, metadata);
    if (!refused.has(key)) for (const line of lines) rollout.append(line);
    const outcome = await rollout.flush();
    refused.delete(key);
    if (outcome.status !== "not_saved") return;
    refused.add(key);
    for (const oldest of refused) {
      if (refused.size <= maxRefused) break;
      refused.delete(oldest);
    }
    throw notSaved(conversationId, outcome);
  }

  #open(conversationId: string, metadata: TurnMetadata): Promise<OpenFile> {
    const path = this.#pathOf(conversationId);
    const opened = this.#files.get(path) ?? this.#openFile(conversationId, path, metadata);
    this.#files.set(path, opened);
    opened.catch(() => this.#files.delete(path));
    return opened;
  }

  async #openFile(conversationId: string, path: string, metadata: TurnMetadata): Promise<OpenFile> {
    const exists = await lstat(path).then(
      () => true,
      () => false,
    );
    const { outcome, rollout } = await this.#outbox.open({
      conversationId: shownId(conversationId),
      path,
      mode: exists ? "append" : "create",
      encode: this.#encode,
    });
    if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
    const isNew = !exists || (outcome.status === "open" && outcome.bytes === 0);
    if (isNew) rollout.append(this.#firstLine(conversationId, metadata));
    return { rollout, refused: new Set() };
  }

  #firstLine(conversationId: string, { provider, model }: TurnMetadata): OwnLine {
    const line = sessionMetaLine({
      conversationId,
      now: this.#now(),
      cwd: this.#baseDir,
      provider: provider ?? "unknown",
      model: model ?? "unknown",
      source: "non_interactive",
    });
    return provider === undefined && model === undefined ? withoutMetadata(line) : line;
  }

  #pathOf(conversationId: string): string {
    if (!isConversationId(conversationId)) throw new ConversationNotFoundError(conversationId);
    return join(this.#baseDir, `${shownId(conversationId)}.jsonl`);
  }
}

/** Adapts a recorder to a rollout: lines go in, and each turn is recorded once, when it has ended. */
export function recorderRollout(recorder: TurnRecorder, conversationId: string, metadata: TurnMetadata): Rollout {
  return new RecorderRollout(recorder, conversationId, metadata);
}

/** Hashed, because a turn may be long. */
function keyOf(record: RolloutTurn | CompactionRecord): string {
  return createHash("sha256").update(JSON.stringify(record)).digest("base64");
}

function notSaved(conversationId: string, { reason }: Extract<SaveOutcome, { status: "not_saved" }>): FailureError {
  const message = `conversation ${conversationId}: the turn is not saved: ${reason}`;
  return new FailureError({ code: "not_saved", message, retryable: true });
}

function withoutMetadata(line: OwnLine): OwnLine {
  return line.type === "session_meta" ? { ...line, metadata: undefined } : line;
}

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
class RecorderRollout implements Rollout {
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
      return { status: "not_saved", reason: errorMessage(error) };
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

export interface CompactionRecord {
  timestamp: number;
  summary: string;
  /** Number of old items that had to be dropped before the summary could be made. */
  truncatedCount: number;
}

/** A compaction as `readRollout` may return it. */
export interface RecordedCompaction extends CompactionRecord {
  type: "compacted";
}

/**
 * Stores whole turns; any object of this shape can replace files. A turn must be returned with its `metadata`: when
 * `metadata.replaces` is true, its items are the whole history from there on.
 */
export interface TurnRecorder {
  appendTurn(conversationId: string, turn: RolloutTurn): Promise<void>;
  /** Returns the appended turns in order; records of `appendCompacted` may be included or left out. */
  readRollout(conversationId: string): Promise<readonly (RolloutTurn | RecordedCompaction)[]>;
  list(): Promise<ConversationMetadata[]>;
  /** Called for each compaction, before the turn with the new history. */
  appendCompacted?(conversationId: string, record: CompactionRecord): Promise<void>;
  /**
   * Whether the turn with the new history is enough to restore a compaction, so that `appendCompacted` is not called
   * for it.
   */
  readonly keepsReplacements?: boolean;
}
