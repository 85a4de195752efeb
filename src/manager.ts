import { homedir } from "node:os";
import { AllEvents } from "./actors/conversation/events.js";
import {
  strategiesByName,
  validateOptions,
  type CountTokensOptions,
  type ExportOptions,
  type ManagerOptions,
  type NewConversation,
  type RenameOptions,
} from "./actors/conversation/open/manager-options.js";
import type { Conversation } from "./actors/conversation/handle.js";
import type {
  ImporterParts,
  ImportOptions,
  ImportOutcome,
  ImportResult,
} from "./actors/conversation/saved/import-conversation.js";
import {
  listed,
  type ListOptions,
  SavedConversations,
  readParent,
} from "./actors/conversation/saved/saved-conversations.js";
import { openStore } from "./actors/conversation/store/open-store.js";
import { ConversationOpener } from "./actors/conversation/open/opener.js";
import type { Store } from "./actors/conversation/store/store.js";
import { compactor } from "./actors/compactor/compactor.js";
import { countWith, withEstimateFallback, type Tokenizer } from "./actors/compactor/tokenizer.js";
import { CredentialResolver } from "./actors/credentials/credential-resolver.js";
import { RequestGate } from "./actors/limits/limits.js";
import type { Ref } from "./actors/runtime/actor.js";
import { spawn } from "./actors/runtime/spawn.js";
import { TokenEstimates } from "./compaction/tokens/token-estimates.js";
import { factsOf } from "./config/models/models.js";
import type { CompactorAnswers, CompactorEvent, CompactorOp } from "./messages/compactor.js";
import { Config } from "./messages/config.js";
import { ConversationConfig, ForkConfig, ResumeConfig } from "./messages/conversation-config.js";
import { InvalidInputError } from "./base/errors.js";
import type { Event } from "./messages/event.js";
import { check, parsed } from "./base/parse.js";
import type { SaveOutcome } from "./messages/rollout-writer.js";
import { ownShape } from "./config/files/written-config.js";
import { ProjectFinder } from "./config/project/project.js";
import { resolveHomes } from "./config/paths.js";
import { LearningRedactor } from "./config/secrets/text-redactor.js";
import { redactionRules } from "./config/secrets/redact.js";
import { effectiveGroup, effectiveSetting } from "./config/settings/effective-settings.js";
import { vendorNames } from "./config/providers/vendors.js";
import type { ConversationMetadata } from "./rollouts/list/list.js";
import type { ExportedConversation } from "./rollouts/formats/export/export-lines.js";
import { countTokens, openCpuPool } from "./workers/cpu-pool.js";
import { openIoPool } from "./workers/io-pool.js";
import { FailureError } from "./messages/failure-error.js";

/** Connects conversations, their store and the configuration. */
export class ConversationManager implements AsyncDisposable {
  readonly #now: () => Date;
  readonly #tokenizer: Tokenizer | undefined;
  /** Starts no thread until tokens are counted or a long rollout is read. */
  readonly #cpu = openCpuPool();
  /** Starts no thread until something is summarized. */
  readonly #io = openIoPool();
  readonly #gate: RequestGate;
  readonly #credentials: CredentialResolver;
  readonly #compactor: Ref<CompactorOp, CompactorAnswers>;
  readonly #store: Store;
  readonly #opener: ConversationOpener;
  readonly #saved: SavedConversations;
  readonly #importer: ImporterParts;
  readonly #live = new Map<string, Conversation>();
  /** Where the compactor's events for each open conversation go. */
  readonly #compactorEvents = new Map<string, (event: CompactorEvent) => void>();
  readonly #resuming = new Map<string, Promise<Conversation>>();
  readonly #all = new AllEvents((id, callId) => this.#live.get(id)?.awaitsApproval(callId) ?? false);
  /** Pending work that shutdown waits for, such as opening a conversation. */
  readonly #opening = new Set<Promise<unknown>>();
  #shutdown: Promise<void> | undefined;

  constructor(userOptions: ManagerOptions = {}) {
    const options = validateOptions(userOptions);
    const config = parsed(Config, ownShape(options.config ?? {}), "config");
    this.#now = options.now ?? (() => new Date());
    this.#tokenizer = options.tokenizer;
    const homes = resolveHomes({ home: options.home, env: options.env ?? {}, homedir });
    const redactor = new LearningRedactor(redactionRules(config, options.env ?? {}));
    this.#store = openStore(options, config, { homes, cpu: this.#cpu, redactor });
    const reached = new Set(["offline", ...vendorNames, ...Object.keys(config.providers ?? {})]);
    for (const { name } of options.providers ?? []) reached.add(name);
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
    const estimates = new TokenEstimates(
      options.tokenizer && withEstimateFallback(options.tokenizer, (message) => this.#warn(message)),
    );
    this.#gate = new RequestGate(config.limits ?? {});
    this.#credentials = new CredentialResolver({
      home: homes.home,
      env: options.env ?? {},
      config,
      now: () => this.#now().getTime(),
      warn: (message) => this.#warn(message),
      learn: (secret) => redactor.learn(secret),
    });
    const strategies = strategiesByName(options, config);
    this.#compactor = spawn(
      compactor,
      {
        cpu: this.#cpu,
        io: this.#io,
        gate: this.#gate,
        retry: options.retry,
        estimates,
        strategies,
        settings: effectiveGroup(config, "compaction"),
        provider: (target) => this.#opener.summaryProvider(target),
        facts: (model) => factsOf(model, config.models),
      },
      { onEvent: ({ msg }) => this.#compactorEvents.get(msg.conversationId)?.(msg) },
    );
    this.#opener = new ConversationOpener({
      options,
      homes,
      projects: new ProjectFinder(),
      config,
      store: this.#store,
      compactor: this.#compactor,
      estimates,
      strategies: [...strategies.keys()],
      gate: this.#gate,
      credentials: this.#credentials,
      redactor,
      pool: this.#cpu,
      isLive: (conversationId) => this.#live.has(conversationId),
      isShutDown: () => this.#shutdown !== undefined,
      onOpen: (conversation) => this.#live.set(conversation.id, conversation),
      onEvent: (event) => this.#all.publish(event),
      onCompactorEvents: (conversationId, receive) => this.#compactorEvents.set(conversationId, receive),
      onEnd: (conversationId) => {
        this.#live.delete(conversationId);
        this.#compactorEvents.delete(conversationId);
      },
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
    return await this.#track(importConversation(this.#importer, path, options));
  }

  /** Imports a file, or every conversation in a directory and its subfolders, one after another. */
  async *importConversations(path: string, options: ImportOptions = {}): AsyncGenerator<ImportOutcome> {
    const { importEach } = await import("./actors/conversation/saved/import-each.js");
    yield* importEach(path, (file) => this.importConversation(file, options));
  }

  async newConversation(config: ConversationConfig = {}): Promise<NewConversation> {
    return await this.#track(this.#opener.create(check(ConversationConfig, config, "conversation")));
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
    return await this.#resumeById(await this.#store.adopt(path), config);
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
    const resumed = await this.#opener.resume(conversationId, config);
    if (resumed !== "codex_only") return resumed;
    const { allowEmpty: _, force: __, ...changes } = config;
    const parent = await readParent(this.#store, conversationId, undefined);
    const copied = `Only Codex can write to ${conversationId}, so this conversation is a copy of it`;
    return (await this.#opener.create(changes, { ...parent, notice: copied, isResumed: true })).conversation;
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
    return await this.#fork(await this.#store.adopt(path), config);
  }

  async #fork(parentId: string, config: ForkConfig): Promise<NewConversation> {
    const { afterTurn, ...changes } = check(ForkConfig, config, "conversation");
    await this.#live.get(parentId)?.flush();
    const parent = await readParent(this.#store, parentId, afterTurn);
    return await this.#track(this.#opener.create(changes, parent));
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
    return listed(await this.#store.list(), [...this.#live.values()], this.#now(), options);
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
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#live.values()].map((conversation) => conversation.shutdown()));
    await Promise.all([this.#compactor.stop(), this.#gate.stop(), this.#credentials.stop()]);
    await Promise.all([this.#store.close(), this.#cpu.close(), this.#io.close(), this.#opener.close()]);
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
