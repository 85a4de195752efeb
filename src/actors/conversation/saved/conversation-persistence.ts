import { lstat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { codyHome, homePaths } from "../../../config/paths.js";
import { redactionRules } from "../../../config/secrets/redact.js";
import { createTextRedactor } from "../../../config/secrets/text-redactor.js";
import { cleanupResult, type CleanupResult, type ConversationDeleteResult } from "../../../messages/cleanup.js";
import { bareId, isConversationId, shownId } from "../../../base/text/conversation-id.js";
import { ConversationInUseError, ConversationNotFoundError, InvalidInputError } from "../../../base/errors.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import {
  type FlaggedMessage,
  isMessageComplete,
  type CoreMessage,
  coreMessages,
} from "../../../rollouts/history-messages.js";
import { conversationFiles } from "../../../rollouts/list/conversation-files.js";
import { lineEncoder, sessionMetaLine } from "../../../rollouts/file/encode.js";
import { messageItems } from "../../../rollouts/formats/envoy/items.js";
import { type RolloutName, rolloutsIn } from "../../../rollouts/list/layout-files.js";
import { getRolloutHistory } from "../../../rollouts/file/read.js";
import { TrashBin } from "../../retention/trash-bin.js";
import { openOutbox, type RolloutOutbox } from "../../rollout-writer/outbox.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import { FailureError } from "../../../messages/failure-error.js";

export interface PersistenceOptions {
  /** cody's home directory; by default `CODY_HOME` of `env`, else `~/.cody`. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Working directory recorded for the conversation; that of the process by default. */
  readonly cwd?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly now?: () => Date;
}

/** Days without a change after which a conversation counts as old, by default. */
const defaultDays = 7;
const dayMs = 24 * 60 * 60 * 1000;
const folderName = /^(?!\.{1,2}$)[^/\0]{1,200}$/;

/**
 * Stores the messages of one project's conversations, for an agent with its own loop. Conversations are rollouts in the
 * layout `project`, so that every reader of rollouts can read them. The session id may be empty for a caller that only
 * reads or deletes.
 */
export class ConversationPersistence implements AsyncDisposable {
  readonly #sessionId: string;
  readonly #options: PersistenceOptions;
  readonly #home: string;
  readonly #directory: string;
  #outbox: RolloutOutbox | undefined;
  #rollout: Promise<Rollout> | undefined;

  constructor(sessionId: string, projectIdentifier: string, options: PersistenceOptions = {}) {
    if (sessionId !== "" && !isConversationId(sessionId))
      throw new InvalidInputError(`invalid session id: ${sessionId}`);
    if (!folderName.test(projectIdentifier))
      throw new InvalidInputError(`invalid project identifier: ${projectIdentifier}`);
    const { env = {} } = options;
    this.#sessionId = sessionId;
    this.#options = options;
    this.#home = options.home ?? codyHome({ env, homedir: homedir() });
    this.#directory = join(homePaths(this.#home).conversations, projectIdentifier);
  }

  /**
   * Appends messages to the conversation; resolves when they are on disk. Pass only new ones: all of them are written.
   */
  async persistMessages(
    messages: readonly (CoreMessage | (FlaggedMessage & { readonly content: unknown }))[],
  ): Promise<void> {
    if (this.#sessionId === "") throw new InvalidInputError("a session id is needed to save messages");
    const timestamp = this.#now().toISOString();
    const items = messages
      .filter((message) => isMessageComplete(message))
      .flatMap((message) => messageItems({ ...message }).items);
    if (items.length === 0) return;
    this.#rollout ??= this.#open();
    const rollout = await this.#rollout.catch((error: unknown) => {
      this.#rollout = undefined;
      throw error;
    });
    for (const payload of items) rollout.append({ timestamp, type: "response_item", payload });
    const saved = await rollout.flush();
    if (saved.status !== "not_saved") return;
    const message = `conversation ${this.#sessionId}: not saved: ${saved.reason}`;
    throw new FailureError({ code: "not_saved", message, retryable: true });
  }

  /** Returns the messages of a conversation, by default its own; empty when it does not exist. */
  async loadConversation(sessionId: string = this.#sessionId): Promise<CoreMessage[]> {
    const rollout = await this.#find(sessionId);
    return rollout === undefined ? [] : coreMessages((await getRolloutHistory(rollout.path)).history);
  }

  /** The id of the newest conversation of the project: ids are ordered by time. */
  async getLatestConversation(): Promise<string | null> {
    return (await this.getAllConversations())[0] ?? null;
  }

  /** The ids of the project's conversations, the newest first. */
  async getAllConversations(): Promise<string[]> {
    return (await rolloutsIn(this.#directory))
      .map(({ id }) => bareId(id))
      .toSorted()
      .toReversed();
  }

  /** Returns the conversations that have not changed for `days` days. */
  async getOldConversations(days: number = defaultDays): Promise<string[]> {
    if (!(days >= 0)) throw new InvalidInputError("days: expected 0 or a larger number");
    const ids = await this.getAllConversations();
    const ages = await Promise.all(
      ids.map(async (id) => (await this.getConversationStats(id).catch(() => undefined))?.age),
    );
    return ids.filter((_, index) => (ages[index] ?? -1) >= days);
  }

  /** Returns the total bytes of a conversation's files and the days since its last change. */
  async getConversationStats(sessionId: string): Promise<{ size: number; age: number }> {
    const rollout = await this.#find(sessionId);
    if (rollout === undefined) throw new ConversationNotFoundError(sessionId);
    const files = await conversationFiles(rollout.path);
    const { mtimeMs } = await lstat(rollout.path);
    const age = (this.#now().getTime() - mtimeMs) / dayMs;
    return { size: files.reduce((sum, { bytes }) => sum + bytes, 0), age: Math.max(0, age) };
  }

  /** Moves a conversation into the trash; an error is reported in the result. */
  async deleteConversation(sessionId: string): Promise<ConversationDeleteResult> {
    const { successes, failures } = await this.deleteConversations([sessionId]);
    return (
      successes[0] ?? failures[0] ?? { success: false, sessionId, size: 0, sizeFreed: 0, error: "unexpected error" }
    );
  }

  async deleteConversations(sessionIds: readonly string[]): Promise<CleanupResult> {
    const { env = {} } = this.#options;
    const places = {
      layout: "project",
      directory: this.#directory,
      elsewhere: [],
      alsoListed: [],
      codexHome: undefined,
      home: this.#home,
    } as const;
    const results: ConversationDeleteResult[] = [];
    await using bin = await TrashBin.open({ places, env, now: () => this.#now() });
    for (const sessionId of sessionIds) {
      const rollout = await this.#find(sessionId);
      if (rollout === undefined)
        results.push({ success: false, sessionId, size: 0, sizeFreed: 0, error: "conversation not found" });
      else {
        const { successes, failures } = await bin.delete([rollout], { why: "asked" });
        results.push(...[...successes, ...failures].map((result) => ({ ...result, sessionId })));
      }
    }
    return cleanupResult(results);
  }

  /** Saves pending lines and releases the file and its lock. */
  async close(): Promise<void> {
    await this.#outbox?.stop();
    this.#outbox = undefined;
    this.#rollout = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open(): Promise<Rollout> {
    const { env = {} } = this.#options;
    const conversationId = shownId(this.#sessionId);
    const found = await this.#find(this.#sessionId);
    this.#outbox ??= openOutbox(env);
    const path = found?.path ?? join(this.#directory, `${bareId(conversationId)}.jsonl`);
    const { outcome, rollout } = await this.#outbox.open({
      conversationId,
      path,
      mode: found === undefined ? "create" : "append",
      encode: lineEncoder(createTextRedactor(redactionRules({}, env))),
    });
    if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
    if (found === undefined || (outcome.status === "open" && outcome.bytes === 0))
      rollout.append(this.#firstLine(conversationId));
    return rollout;
  }

  #firstLine(conversationId: string): OwnLine {
    const { cwd = process.cwd(), provider = "unknown", model = "unknown" } = this.#options;
    return sessionMetaLine({ conversationId, now: this.#now(), cwd, provider, model, source: "non_interactive" });
  }

  async #find(sessionId: string): Promise<RolloutName | undefined> {
    if (!isConversationId(sessionId)) return undefined;
    return (await rolloutsIn(this.#directory)).find(({ id }) => id === shownId(sessionId));
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }
}
