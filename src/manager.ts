import { homedir } from "node:os";
import { errorMessage } from "./base/error-message.js";
import { AllEvents } from "./actors/conversation/events.js";
import {
  validateOptions,
  type CountTokensOptions,
  type ExportOptions,
  type ManagerOptions,
  type NewConversation,
  type RenameOptions,
} from "./actors/conversation/open/manager-options.js";
import { type ChannelListener, ConversationChannel } from "./actors/conversation/channel.js";
import { Conversation, type HistoryParts } from "./actors/conversation/handle.js";
import { defaultIdleMs, IdleConversations } from "./actors/conversation/idle-conversations.js";
import { idOfNew, newConversationId } from "./actors/conversation/open/open-conversation.js";
import type {
  ImporterParts,
  ImportOptions,
  ImportOutcome,
  ImportResult,
} from "./actors/conversation/saved/import-conversation.js";
import {
  type AnswerApprovalOptions,
  type ApprovalAnswered,
  type ListApprovalsOptions,
  type PendingApproval,
  PendingApprovals,
} from "./actors/conversation/saved/pending-approvals.js";
import { listed, type ListOptions, SavedConversations } from "./actors/conversation/saved/saved-conversations.js";
import { openStore } from "./actors/conversation/store/open-store.js";
import type { Store } from "./actors/conversation/store/store.js";
import { countWith, withEstimateFallback, type Tokenizer } from "./actors/compactor/tokenizer.js";
import { maxPlacements, type ShardReport } from "./actors/shards/shards.js";
import { openOutbox } from "./actors/rollout-writer/outbox.js";
import { type OpenedLink, SharedActors } from "./actors/shared-actors.js";
import type { BatchOptions } from "./batch/run-batch.js";
import type { BatchResult, BatchTask } from "./messages/batch.js";
import type { OpenConversation } from "./messages/actors/conversation.js";
import type { ControlOptions, ControlServer } from "./control/control-server.js";
import { TokenEstimates } from "./compaction/tokens/token-estimates.js";
import { Config } from "./messages/settings/config.js";
import { ConversationConfig, ForkConfig, ResumeConfig } from "./messages/settings/conversation-config.js";
import { InvalidInputError } from "./base/errors.js";
import type { Event } from "./messages/event.js";
import { check, parsed } from "./base/parse.js";
import type { SaveOutcome } from "./messages/actors/rollout-writer.js";
import type { ReviewDecision } from "./messages/tools/approval.js";
import { ownShape } from "./config/files/written-config.js";
import { resolveHomes } from "./config/paths.js";
import { LearningRedactor } from "./config/secrets/text-redactor.js";
import { redactionRules } from "./config/secrets/redact.js";
import { effectiveSetting } from "./config/settings/effective-settings.js";
import { providerNames } from "./config/providers/vendors.js";
import type { ConversationMetadata } from "./rollouts/list/list.js";
import type { ExportedConversation } from "./rollouts/formats/export/export-lines.js";
import { countTokens, openCpuPool } from "./workers/cpu-pool.js";
import { FailureError } from "./messages/failure-error.js";

/** A report of the conversations of a manager. */
export interface ManagerStats {
  /** Conversations with a handle that has not ended. */
  readonly conversations: number;
  readonly awake: number;
  readonly asleep: number;
  /** The worker threads that host conversations. */
  readonly shards: readonly ShardReport[];
}

/** Connects conversations, their store and the configuration. */
export class ConversationManager implements AsyncDisposable {
  readonly #now: () => Date;
  readonly #tokenizer: Tokenizer | undefined;
  /** Starts no thread until tokens are counted or a long rollout is read. */
  readonly #cpu = openCpuPool();
  readonly #store: Store;
  readonly #actors: SharedActors;
  readonly #estimates: TokenEstimates;
  readonly #saved: SavedConversations;
  readonly #approvals: PendingApprovals;
  readonly #importer: ImporterParts;
  readonly #live = new Map<string, Conversation>();
  /** The conversations that may fall asleep. */
  readonly #awake: IdleConversations;
  /** The channels of conversations that have not ended. */
  readonly #channels = new Map<string, ConversationChannel>();
  readonly #listener: ChannelListener = {
    onEvent: (event) => this.#all.publish(event),
    onRun: (first, texts) => this.#all.publishRun(first, texts),
    onAsleep: (channel) => this.#awake.delete(channel),
    onEnd: (channel) => {
      // One that slept could not do it.
      this.#actors.forget(channel.id);
      this.#live.delete(channel.id);
      this.#channels.delete(channel.id);
      this.#awake.delete(channel);
    },
    reopen: async (channel, request, sink) => {
      this.#awake.add(channel);
      return await this.#track(this.#actors.open(request, sink));
    },
    openServers: async (realRoot) => (await (await this.#actors.host()).openProject({ realRoot })).servers,
  };
  readonly #historyParts: HistoryParts;
  readonly #resuming = new Map<string, Promise<Conversation>>();
  readonly #all = new AllEvents((id, callId) => this.#live.get(id)?.awaitsApproval(callId) ?? false);
  /** Pending work that shutdown waits for, such as opening a conversation. */
  readonly #opening = new Set<Promise<unknown>>();
  #shutdown: Promise<void> | undefined;
  /** Starts the control socket; absent if other processes may not see the conversations. */
  readonly #startControl?: () => Promise<ControlServer | undefined>;
  /** Started with the first conversation. */
  #control: Promise<ControlServer | undefined> | undefined;

  constructor(userOptions: ManagerOptions = {}) {
    const given = validateOptions(userOptions);
    const config = parsed(Config, ownShape(given.config ?? {}), "config");
    const isSaved = effectiveSetting(config, "persistence.enabled") && given.recorder === undefined;
    const outbox = isSaved ? (given.outbox ?? openOutbox(given.env ?? {})) : undefined;
    const options: ManagerOptions = { ...given, ...(outbox && { outbox }) };
    this.#now = options.now ?? (() => new Date());
    this.#tokenizer = options.tokenizer;
    const homes = resolveHomes({ home: options.home, env: options.env ?? {}, homedir });
    const redactor = new LearningRedactor(redactionRules(config, options.env ?? {}));
    this.#store = openStore(options, config, { homes, cpu: this.#cpu, redactor });
    const reached = new Set(providerNames(config.providers));
    this.#awake = new IdleConversations(options.idleAfter ?? defaultIdleMs);
    this.#importer = {
      store: this.#store,
      isLive: (conversationId) => this.#live.has(conversationId),
      saves: options.recorder !== undefined || effectiveSetting(config, "persistence.enabled"),
      thoughts: effectiveSetting(config, "persistence.layout") === "codex" ? "events" : "items",
      knownProvider: (name) => (name !== undefined && reached.has(name) ? name : undefined),
      now: this.#now,
    };
    this.#saved = new SavedConversations({
      store: this.#store,
      live: this.#live,
      now: this.#now,
      track: (work) => this.#track(work),
    });
    this.#approvals = new PendingApprovals({
      store: this.#store,
      live: this.#live,
      now: this.#now,
      resume: (id, changes) => this.#resumeById(id, changes),
      track: (work) => this.#track(work),
    });
    this.#estimates = new TokenEstimates(
      options.tokenizer && withEstimateFallback(options.tokenizer, (message) => this.#warn(message)),
    );
    this.#historyParts = {
      maxTurns: effectiveSetting(config, "history.maxSize"),
      countTokens: (text) => this.#estimates.ofText(text),
    };
    if (options.control === true || options.control === "cli") {
      const conversations = { all: () => [...this.#live.values()], get: (id: string) => this.#live.get(id) };
      const kind = options.control === "cli" ? "cli" : "library";
      const now = (): number => this.#now().getTime();
      const served = { kind, home: homes.home, env: options.env ?? {}, conversations, now } as const;
      this.#startControl = () => startControl(served, options.log);
    }
    this.#actors = new SharedActors({
      options,
      outbox,
      config,
      homes,
      redactor,
      store: this.#store,
      cpu: this.#cpu,
      estimates: this.#estimates,
      now: this.#now,
      onProvider: (name) => reached.add(name),
      onCompactorEvent: (event) => this.#channels.get(event.conversationId)?.tell({ type: "compactor_event", event }),
      warn: (message) => this.#warn(message),
    });
  }

  /**
   * Imports a conversation from a file of another program, or in an older format. The file is only read. A file that
   * was imported before is not imported again unless `options` force it. Rejects with an `ImportError`.
   */
  async importConversation(path: string, options: ImportOptions = {}): Promise<ImportResult> {
    this.#refuseAfterShutdown();
    // Imported on use, to keep the start of a conversation fast.
    const { importConversation } = await import("./actors/conversation/saved/import-conversation.js");
    // The names of providers in a `setup` module are known when it is loaded.
    await this.#actors.host();
    return await this.#track(importConversation(this.#importer, path, options));
  }

  /** Imports a file, or every conversation in a directory and its subfolders, one after another. */
  async *importConversations(path: string, options: ImportOptions = {}): AsyncGenerator<ImportOutcome> {
    const { importEach } = await import("./actors/conversation/saved/import-each.js");
    yield* importEach(path, (file) => this.importConversation(file, options));
  }

  /**
   * Runs each task in a conversation of its own, several at a time, and yields the results in the order in which the
   * tasks end. Nobody is asked for approval. Leaving the loop interrupts the running tasks.
   */
  async *runBatch(tasks: readonly BatchTask[], options: BatchOptions = {}): AsyncGenerator<BatchResult> {
    const { runBatch } = await import("./batch/run-batch.js");
    const conversations = {
      newId: newConversationId,
      newConversation: (config: ConversationConfig) => this.newConversation(config),
      resumeConversation: (id: string, config: ResumeConfig) => this.resumeConversation(id, config),
    };
    yield* runBatch(conversations, tasks, options);
  }

  async newConversation(config: ConversationConfig = {}): Promise<NewConversation> {
    return await this.#track(this.#create(check(ConversationConfig, config, "conversation")));
  }

  async #create(
    config: ConversationConfig,
    parent?: Extract<OpenConversation, { mode: "create" }>["parent"],
  ): Promise<NewConversation> {
    this.#refuseAfterShutdown();
    const conversationId = idOfNew(config.id);
    if (config.id !== undefined && (this.#live.has(conversationId) || (await this.#store.has(conversationId)))) {
      throw new InvalidInputError(`conversation ${conversationId} already exists`);
    }
    return await this.#createAs(conversationId, config, parent);
  }

  /** If its thread dies, a conversation without a requested id is created again under another one. */
  async #createAs(
    conversationId: string,
    config: ConversationConfig,
    parent: Extract<OpenConversation, { mode: "create" }>["parent"],
    attempt = 1,
  ): Promise<NewConversation> {
    try {
      const opened = await this.#open({ mode: "create", conversationId, config, ...(parent && { parent }) });
      if (opened === undefined) throw new Error(`conversation ${conversationId} cannot be created`);
      return { ...opened, conversationId };
    } catch (error) {
      const isLost = error instanceof FailureError && error.code === "thread_died";
      if (!isLost || config.id !== undefined || attempt === maxPlacements) throw error;
      return await this.#createAs(idOfNew(undefined), config, parent, attempt + 1);
    }
  }

  /** Opens a conversation and connects a handle to it; returns undefined when only Codex may write to it. */
  async #open(request: OpenConversation): Promise<Omit<NewConversation, "conversationId"> | undefined> {
    const { conversationId } = request;
    const channel = new ConversationChannel(conversationId, this.#listener);
    this.#channels.set(conversationId, channel);
    const opened = await this.#opened(channel, request);
    if (opened === undefined) return undefined;
    await this.#closeAfterShutdown(opened);
    const conversation = new Conversation(channel, this.#historyParts);
    this.#live.set(conversationId, conversation);
    this.#awake.add(channel);
    this.#control ??= this.#startControl?.();
    void this.#control?.then((control) => control?.opened(conversation));
    return { conversation, saved: opened.saved };
  }

  async #opened(channel: ConversationChannel, request: OpenConversation): Promise<OpenedLink | undefined> {
    let opened: OpenedLink | undefined;
    try {
      opened = await channel.open((sink) => this.#actors.open(request, sink));
      return opened;
    } finally {
      if (opened === undefined) this.#channels.delete(channel.id);
    }
  }

  /** The conversations and the threads that host them. */
  async stats(): Promise<ManagerStats> {
    const live = [...this.#live.values()];
    const awake = live.filter(({ isAwake }) => isAwake).length;
    return {
      conversations: live.length,
      awake,
      asleep: live.length - awake,
      shards: await this.#actors.shardReports(),
    };
  }

  /** Closes a conversation that was opened while the manager was being shut down, and throws. */
  async #closeAfterShutdown(opened: OpenedLink): Promise<void> {
    if (this.#shutdown !== undefined) await opened.close();
    this.#refuseAfterShutdown();
  }

  /**
   * Resumes a saved conversation in the same file, named by id, bare UUID, unique prefix or its name. A conversation
   * that only Codex may write to continues in a copy, with its own id and a notice.
   */
  async resumeConversation(text: string, config: ResumeConfig = {}): Promise<Conversation> {
    this.#refuseAfterShutdown();
    return await this.#resumeById(await this.#saved.find(text), config);
  }

  /** Resumes a rollout at any path. Do not pass an untrusted path: the file is read and written. */
  async resumeRollout(path: string, config: ResumeConfig = {}): Promise<Conversation> {
    this.#refuseAfterShutdown();
    return await this.#resumeById(await this.#adopt(path), config);
  }

  /** Uses a file at any path for its conversation; returns the conversation's id. */
  async #adopt(path: string): Promise<string> {
    const id = await this.#store.adopt(path);
    this.#actors.adopt(id, path);
    return id;
  }

  async #resumeById(conversationId: string, config: ResumeConfig): Promise<Conversation> {
    check(ResumeConfig, config, "conversation");
    const live = this.#live.get(conversationId);
    if (live !== undefined && live.ending === undefined) return live;
    // A conversation that is ending still holds its rollout.
    await live?.ending;
    const resuming = this.#resuming.get(conversationId) ?? this.#track(this.#resume(conversationId, config));
    this.#resuming.set(conversationId, resuming);
    try {
      return await resuming;
    } finally {
      this.#resuming.delete(conversationId);
    }
  }

  async #resume(conversationId: string, config: ResumeConfig): Promise<Conversation> {
    const resumed = await this.#open({ mode: "resume", conversationId, config });
    if (resumed !== undefined) return resumed.conversation;
    const { allowEmpty: _, force: __, ...changes } = config;
    return (await this.#create(changes, { id: conversationId, isResumed: true })).conversation;
  }

  /** Returns a conversation of this manager that has not ended. */
  getConversation(conversationId: string): Conversation | undefined {
    return this.#saved.live(conversationId);
  }

  /** Creates a conversation from another one's state after a number of turns, or from its current state. */
  async forkConversation(text: string, config: ForkConfig = {}): Promise<NewConversation> {
    this.#refuseAfterShutdown();
    return await this.#fork(await this.#saved.find(text), config);
  }

  /** Forks a rollout at any path; the file is only read. */
  async forkRollout(path: string, config: ForkConfig = {}): Promise<NewConversation> {
    this.#refuseAfterShutdown();
    return await this.#fork(await this.#adopt(path), config);
  }

  async #fork(parentId: string, config: ForkConfig): Promise<NewConversation> {
    const { afterTurn, ...changes } = check(ForkConfig, config, "conversation");
    await this.#live.get(parentId)?.flush();
    const parent = { id: parentId, ...(afterTurn === undefined ? {} : { afterTurn }) };
    return await this.#track(this.#create(changes, parent));
  }

  /** Renames a conversation, whether it is open or not; a saved one is not resumed for this. */
  async renameConversation(text: string, name: string, options: RenameOptions = {}): Promise<SaveOutcome> {
    this.#refuseAfterShutdown();
    return await this.#saved.rename(await this.#saved.find(text), name, options);
  }

  /** Renames a rollout at any path; a rollout outside the conversation directories appears in no list. */
  async renameRollout(path: string, name: string, options: RenameOptions = {}): Promise<SaveOutcome> {
    this.#refuseAfterShutdown();
    return await this.#saved.rename(await this.#store.adopt(path), name, options);
  }

  /**
   * Exports a saved conversation to another format. It is named as for resuming, or by the path of its rollout, and is
   * only read. Items of a running turn that are not written yet are not included.
   */
  async exportConversation(text: string, options: ExportOptions): Promise<ExportedConversation> {
    this.#refuseAfterShutdown();
    return await this.#saved.export(text, options);
  }

  /** Pins a conversation, so that clean-up keeps it, or removes its pin; it may be open or not. */
  async pinConversation(
    text: string,
    options: RenameOptions & { readonly pinned?: boolean } = {},
  ): Promise<SaveOutcome> {
    this.#refuseAfterShutdown();
    return await this.#saved.pin(await this.#saved.find(text), options);
  }

  /** Lists all saved and live conversations, newest first. */
  async listConversations(options: ListOptions = {}): Promise<ConversationMetadata[]> {
    return await listed(this.#store, [...this.#live.values()], this.#now(), options);
  }

  /**
   * Lists the approval requests that wait for an answer, newest first: those of open and sleeping conversations, and those
   * in the files of the 2,000 newest saved conversations.
   */
  async listApprovals(options: ListApprovalsOptions = {}): Promise<PendingApproval[]> {
    this.#refuseAfterShutdown();
    return await this.#approvals.list(options);
  }

  /** Returns an approval request that waits for an answer; undefined when there is none with this id. */
  async getApproval(
    approvalId: string,
    { conversationId }: Pick<AnswerApprovalOptions, "conversationId"> = {},
  ): Promise<PendingApproval | undefined> {
    this.#refuseAfterShutdown();
    return await this.#approvals.find(approvalId, conversationId);
  }

  /**
   * Answers an approval request of any conversation, which is woken or resumed for it. The first answer counts; rejects
   * with a `FailureError` when the request is not open, and with a `ConversationInUseError` when another process has its
   * conversation open.
   */
  async answerApproval(
    approvalId: string,
    decision: ReviewDecision,
    options: AnswerApprovalOptions = {},
  ): Promise<ApprovalAnswered> {
    this.#refuseAfterShutdown();
    return await this.#approvals.answer(approvalId, decision, options);
  }

  /** The exact number of tokens in each text, counted off the main thread; rejects with a `FailureError`. */
  async countTokens(texts: readonly string[], { model }: CountTokensOptions): Promise<readonly number[]> {
    const tokenizer = this.#tokenizer;
    if (tokenizer !== undefined) return texts.map((text) => countWith(tokenizer, text));
    const outcome = await countTokens(this.#cpu, texts, model);
    if (!outcome.ok) throw new FailureError(outcome.failure);
    return outcome.value;
  }

  /** The events of all conversations from now on, in one stream. */
  events(): AsyncIterableIterator<Event> {
    return this.#all.reader();
  }

  /** Ends every conversation, saves pending data, and releases files, locks and threads. */
  shutdown(): Promise<void> {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  /** For `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #warn(message: string): void {
    for (const conversation of this.#live.values()) conversation.warn(message);
  }

  async #end(): Promise<void> {
    this.#awake.close();
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#live.values()].map((conversation) => conversation.shutdown()));
    await (await this.#control)?.close();
    await this.#actors.stop();
    await Promise.all([this.#store.close(), this.#cpu.close(), this.#actors.close()]);
    this.#all.close();
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#opening.add(work);
    try {
      return await work;
    } finally {
      this.#opening.delete(work);
    }
  }

  #refuseAfterShutdown(): void {
    if (this.#shutdown !== undefined) throw new InvalidInputError("the manager has been shut down");
  }
}

/** The conversations work without a control socket too. */
async function startControl(options: ControlOptions, log: ManagerOptions["log"]): Promise<ControlServer | undefined> {
  try {
    const { ControlServer: server } = await import("./control/control-server.js");
    return await server.start(options);
  } catch (error) {
    log?.(`other processes cannot reach the conversations: ${errorMessage(error)}`);
    return undefined;
  }
}
