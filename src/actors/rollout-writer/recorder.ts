import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { redactionRules } from "../../config/secrets/rules.js";
import { createTextRedactor } from "../../config/secrets/text-redactor.js";
import { labelledSummary } from "../../base/codex/codex-summary.js";
import { isConversationId, shownId } from "../../base/text/conversation-id.js";
import { ConversationInUseError, ConversationNotFoundError, EmptyRolloutError } from "../../base/errors.js";
import { check } from "../../base/parse.js";
import { ResponseItem, withCodexParts } from "../../messages/response-item.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import type { ConversationMetadata } from "../../rollouts/list/conversation-metadata.js";
import { type LineEncoder, lineEncoder } from "../../rollouts/file/encode.js";
import { sessionMetaLine } from "../../rollouts/first-line.js";
import { listConversations } from "../../rollouts/list/list.js";
import { readRollout } from "../../rollouts/file/read.js";
import { linesOfTurn, TurnGrouping, type RolloutTurn, type TurnMetadata } from "../../rollouts/turns.js";
import { openOutbox } from "./open-outbox.js";
import type { RolloutOutbox } from "./outbox.js";
import { RecorderRollout } from "./recorder-rollout.js";
import type { Rollout } from "./rollout.js";
import type { CompactionRecord, TurnRecorder } from "./turn-recorder.js";
import { FailureError } from "../../messages/failure-error.js";

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
    const begins = !exists || (outcome.status === "open" && outcome.bytes === 0);
    if (begins) rollout.append(this.#firstLine(conversationId, metadata));
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
function keyOf(given: RolloutTurn | CompactionRecord): string {
  return createHash("sha256").update(JSON.stringify(given)).digest("base64");
}

function notSaved(conversationId: string, { reason }: Extract<SaveOutcome, { status: "not_saved" }>): FailureError {
  const message = `conversation ${conversationId}: the turn is not saved: ${reason}`;
  return new FailureError({ code: "not_saved", message, retryable: true });
}

function withoutMetadata(line: OwnLine): OwnLine {
  return line.type === "session_meta" ? { ...line, metadata: undefined } : line;
}
