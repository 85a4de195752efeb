import { homedir } from "node:os";
import { v7 as uuidv7 } from "uuid";
import { AllEvents } from "./actors/conversation/all-events.js";
import { fileStore } from "./actors/conversation/file-store.js";
import type { Conversation } from "./actors/conversation/handle.js";
import type { ManagerOptions, NewConversation, ResumeConfig } from "./actors/conversation/manager-options.js";
import { recorderStore } from "./actors/conversation/recorder-store.js";
import { type ConversationConfig, recordedConfig, resolveSettings } from "./actors/conversation/resolve-settings.js";
import { existingFolder, skippedNotice, tornNotice } from "./actors/conversation/resume-notices.js";
import { defaultRetry } from "./actors/conversation/sampling.js";
import type { Settings } from "./actors/conversation/settings.js";
import { spawnConversation } from "./actors/conversation/spawn-conversation.js";
import { apply, type ConversationState, emptyState } from "./actors/conversation/state.js";
import type { OpenedRollout, Store } from "./actors/conversation/store.js";
import { openOutbox } from "./actors/rollout-writer/open-outbox.js";
import type { Rollout } from "./actors/rollout-writer/rollout.js";
import { estimateTokens } from "./compaction/estimate-tokens.js";
import { codyHome, homePaths } from "./config/paths.js";
import { findProjectRoot, readGitInfo } from "./config/project.js";
import { buildInstructions } from "./context/instructions.js";
import { Config } from "./messages/config.js";
import { isConversationId, shownId } from "./messages/conversation-id.js";
import {
  ConversationInUseError,
  ConversationNotFoundError,
  EmptyRolloutError,
  InvalidInputError,
} from "./messages/errors.js";
import type { Event } from "./messages/event.js";
import { check } from "./messages/parse.js";
import type { OwnLine } from "./messages/rollout-line.js";
import type { SessionSource } from "./messages/session-source.js";
import { clientProvider } from "./providers/client-provider.js";
import { builtInProviders } from "./providers/built-in.js";
import type { Provider } from "./providers/provider.js";
import type { ConversationMetadata } from "./rollouts/conversation-metadata.js";
import { firstLine } from "./rollouts/first-line.js";

export function newConversationId(): string {
  return shownId(uuidv7());
}

/** Wires conversations, their store and the configuration together. */
export class ConversationManager {
  readonly #options: ManagerOptions;
  readonly #config: Config;
  readonly #store: Store;
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #client: Provider | undefined;
  readonly #live = new Map<string, Conversation>();
  readonly #resuming = new Map<string, Promise<Conversation>>();
  readonly #all = new AllEvents();
  /** Conversations that are being opened. */
  readonly #opening = new Set<Promise<unknown>>();
  #shutdown: Promise<void> | undefined;

  constructor(options: ManagerOptions = {}) {
    this.#options = options;
    this.#config = check(Config, options.config ?? {}, "config");
    const { enabled, directory } = this.#config.persistence ?? {};
    const { conversations } = homePaths(options.home ?? codyHome({ env: options.env ?? {}, homedir: homedir() }));
    this.#store =
      options.recorder === undefined
        ? fileStore(
            directory ?? conversations,
            enabled === false ? undefined : (options.outbox ?? openOutbox(options.env ?? {})),
          )
        : recorderStore(options.recorder);
    const builtIn = builtInProviders({ countTokens: (text) => this.#countTokens(text) });
    this.#providers = new Map([...builtIn, ...(options.providers ?? [])].map((provider) => [provider.name, provider]));
    this.#client = options.client === undefined ? undefined : clientProvider(options.client);
  }

  async newConversation(config: ConversationConfig = {}): Promise<NewConversation> {
    return await this.#track(this.#create(config, [], undefined));
  }

  /** Goes on with a saved conversation, named by id, bare UUID or unique prefix, in the same file. */
  async resumeConversation(text: string, config: ResumeConfig = {}): Promise<Conversation> {
    this.#refuseAfterShutdown();
    if (!isConversationId(text)) throw new ConversationNotFoundError(text);
    const conversationId = this.getConversation(text)?.id ?? (await this.#store.find(text));
    const live = this.#live.get(conversationId);
    if (live !== undefined && live.ending === undefined) return live;
    // One that is just ending still holds its rollout.
    await live?.ending;
    const underWay = this.#resuming.get(conversationId) ?? this.#track(this.#resume(conversationId, config));
    this.#resuming.set(conversationId, underWay);
    try {
      return await underWay;
    } finally {
      this.#resuming.delete(conversationId);
    }
  }

  /** A conversation of this manager that has not ended. */
  getConversation(conversationId: string): Conversation | undefined {
    return this.#live.get(conversationId) ?? this.#live.get(shownId(conversationId));
  }

  /** A new conversation that begins as another one was after so many turns, or as it is now. */
  async forkConversation(
    text: string,
    config: ConversationConfig & { readonly afterTurn?: number } = {},
  ): Promise<NewConversation> {
    this.#refuseAfterShutdown();
    if (!isConversationId(text)) throw new ConversationNotFoundError(text);
    const { afterTurn, ...changes } = config;
    const live = this.getConversation(text);
    await live?.flush();
    const parentId = live?.id ?? (await this.#store.find(text));
    const parent = emptyState();
    const lines: OwnLine[] = [];
    for await (const line of this.#store.read(parentId)) {
      if (afterTurn !== undefined && parent.turns >= afterTurn && parent.openTurn === undefined) break;
      apply(parent, line);
      if (line.type !== "session_meta") lines.push(line);
    }
    if (parent.history.length === 0) throw new EmptyRolloutError(parentId);
    return await this.#track(this.#create({ ...recordedConfig(parent), ...changes }, lines, parentId));
  }

  /** Every saved conversation and every live one, newest first. */
  async listConversations(
    options: { readonly project?: string; readonly limit?: number } = {},
  ): Promise<ConversationMetadata[]> {
    const saved = await this.#store.list();
    const known = new Set(saved.map(({ id }) => id));
    const unsaved = [...this.#live.values()].filter(({ id }) => !known.has(id)).map((live) => this.#metadata(live));
    return [...saved, ...unsaved]
      .filter(({ cwd }) => options.project === undefined || cwd === options.project)
      .toSorted((a, b) => b.updatedAt - a.updatedAt)
      .slice(0, options.limit);
  }

  /** The events of all conversations from now on, in one stream. */
  events(): AsyncGenerator<Event> {
    return this.#all.reader();
  }

  /** Ends every conversation, saves what waits, and lets go of files, locks and threads. */
  shutdown(): Promise<void> {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  async #create(
    config: ConversationConfig,
    inherited: readonly OwnLine[],
    forkedFrom: string | undefined,
  ): Promise<NewConversation> {
    this.#refuseAfterShutdown();
    const conversationId = config.id === undefined ? newConversationId() : shownId(config.id);
    if (!isConversationId(conversationId)) throw new InvalidInputError(`a conversation id has ${idRule}`);
    if (config.id !== undefined && (this.#live.has(conversationId) || (await this.#store.has(conversationId)))) {
      throw new InvalidInputError(`conversation ${conversationId} exists already`);
    }
    const { settings, notice } = this.#resolveSettings(config);
    const labels = { provider: settings.provider, model: settings.model };
    const [{ outcome, rollout }, git] = await Promise.all([
      this.#store.open({ conversationId, mode: "create", ...labels, force: false }),
      findProjectRoot(settings.cwd).then(readGitInfo),
    ]);
    refuseInUse(conversationId, outcome);
    const source = this.#options.source ?? "non_interactive";
    const state = emptyState();
    for (const line of [
      firstLine({ conversationId, now: this.#now(), cwd: settings.cwd, ...labels, source, git, forkedFrom }),
      ...inherited,
    ]) {
      apply(state, line);
      rollout.append(line);
    }
    // What could not even be opened was waited for already.
    const saved = outcome.status === "not_saved" ? outcome : await rollout.flush();
    await this.#refuseOpened(rollout);
    const conversation = this.#spawn({ conversationId, state, settings, rollout, sessionSource: source, notice });
    return { conversation, conversationId, saved };
  }

  async #resume(conversationId: string, config: ResumeConfig): Promise<Conversation> {
    const { allowEmpty = false, force = false, ...changes } = config;
    // Looked up before the file is read, which may take long, and taken for good afterwards.
    const holder = force ? undefined : await this.#store.holder(conversationId).catch(() => undefined);
    if (holder !== undefined) throw new ConversationInUseError(conversationId, holder);
    const before = await this.#load(conversationId);
    if (before.state.history.length === 0 && !allowEmpty) throw new EmptyRolloutError(conversationId);
    const recorded = await existingFolder(recordedConfig(before.state));
    const { settings, notice } = this.#resolveSettings({ ...recorded.config, ...changes });
    const { provider, model } = settings;
    const { outcome, rollout } = await this.#store.open({ conversationId, mode: "append", provider, model, force });
    refuseInUse(conversationId, outcome);
    await this.#refuseOpened(rollout);
    // Someone may have written between the reading and the lock.
    const moved = outcome.status === "open" && outcome.bytes !== 0 && outcome.bytes !== before.bytes;
    const { state, skipped } = moved ? await this.#loadOrClose(conversationId, rollout) : before;
    if (state.meta === undefined) this.#begin(conversationId, state, settings, rollout);
    const notices = [notice, recorded.notice, tornNotice(outcome), skippedNotice(skipped)];
    return this.#spawn({
      conversationId,
      state,
      settings,
      rollout,
      sessionSource: { resume: conversationId },
      notice: notices.filter((text) => text !== undefined).join("\n") || undefined,
    });
  }

  /** A file without its first line, left by a crash right after it was made, gets one. */
  #begin(conversationId: string, state: ConversationState, settings: Settings, rollout: Rollout): void {
    const { provider, model, cwd } = settings;
    const source = this.#options.source ?? "non_interactive";
    const line = firstLine({ conversationId, now: this.#now(), cwd, provider, model, source });
    apply(state, line);
    rollout.append(line);
  }

  async #load(conversationId: string): Promise<LoadedConversation> {
    const state = emptyState();
    const lines = this.#store.read(conversationId);
    for await (const line of lines) apply(state, line);
    return { state, ...lines.end };
  }

  /** A rollout that cannot be read must not stay locked. */
  async #loadOrClose(conversationId: string, rollout: Rollout): Promise<LoadedConversation> {
    try {
      return await this.#load(conversationId);
    } catch (error) {
      await rollout.close();
      throw error;
    }
  }

  #spawn(parts: SpawnInput): Conversation {
    const conversation = spawnConversation({
      ...parts,
      retry: this.#options.retry ?? defaultRetry,
      provider: (settings) => this.#provider(settings),
      instructions: (settings) =>
        buildInstructions({ cwd: settings.cwd, platform: process.platform, date: this.#now() }),
      countTokens: (text) => this.#countTokens(text),
      now: () => this.#now(),
      newId: uuidv7,
      onEvent: (event) => this.#all.publish(event),
      onEnd: () => this.#live.delete(parts.conversationId),
    });
    this.#live.set(conversation.id, conversation);
    return conversation;
  }

  #resolveSettings(conversation: ConversationConfig) {
    const available = this.#client === undefined ? new Set(this.#providers.keys()) : undefined;
    const env = this.#options.env ?? {};
    return resolveSettings({
      config: this.#config,
      conversation,
      env,
      available,
      cwd: this.#options.cwd ?? process.cwd(),
    });
  }

  #provider(settings: Settings): Provider {
    const provider = this.#client ?? this.#providers.get(settings.provider);
    if (provider === undefined) throw new Error(`there is no provider ${settings.provider}`);
    return provider;
  }

  #metadata(live: Conversation): ConversationMetadata {
    const { provider, model, cwd } = live.settings;
    return { id: live.id, updatedAt: this.#now().getTime(), provider, model, cwd, empty: live.turns === 0 };
  }

  async #end(): Promise<void> {
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#live.values()].map((conversation) => conversation.shutdown()));
    await this.#store.close();
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

  /** For what was opened while the manager was shut down. */
  async #refuseOpened(rollout: Rollout): Promise<void> {
    if (this.#shutdown !== undefined) await rollout.close();
    this.#refuseAfterShutdown();
  }

  #refuseAfterShutdown(): void {
    if (this.#shutdown !== undefined) throw new InvalidInputError("the manager has been shut down");
  }

  #countTokens(text: string): number {
    return this.#options.tokenizer?.countTokens(text) ?? estimateTokens(text);
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }
}

interface LoadedConversation {
  readonly state: ConversationState;
  readonly bytes: number;
  readonly skipped: number;
}

interface SpawnInput extends Pick<OpenedRollout, "rollout"> {
  readonly conversationId: string;
  readonly state: ConversationState;
  readonly settings: Settings;
  readonly sessionSource: SessionSource;
  readonly notice: string | undefined;
}

const idRule = "1 to 128 letters, digits, _ and -, the first a letter or digit";

function refuseInUse(conversationId: string, outcome: OpenedRollout["outcome"]): void {
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
}
