import { homedir } from "node:os";
import { v7 as uuidv7 } from "uuid";
import { estimateTokens } from "../../compaction/estimate-tokens.js";
import type { Config } from "../../messages/config.js";
import { isConversationId, shownId } from "../../messages/conversation-id.js";
import { conversationName } from "../../messages/conversation-name.js";
import { ConversationInUseError, EmptyRolloutError, InvalidInputError } from "../../messages/errors.js";
import type { Event } from "../../messages/event.js";
import type { TextRedactor } from "../../messages/redaction.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import type { SessionSource } from "../../messages/session-source.js";
import { effectiveCompaction } from "../../config/compaction-settings.js";
import { contextWindow } from "../../config/model-windows.js";
import { factsOf, priceOf } from "../../config/models.js";
import { privatePaths } from "../../config/private-paths.js";
import type { CompactionStrategy } from "../../compaction/strategy.js";
import type { CompactorAnswers, CompactorOp } from "../compactor/compactor.js";
import type { TokenCounts } from "../compactor/token-counts.js";
import type { Ref } from "../system/actor.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import { configuredKeys } from "../../config/vendors.js";
import { defaultHistoryTurns, effectiveLimits } from "../../config/turn-limits.js";
import { toolEnv } from "../../tools/tool-env.js";
import { Toolbox } from "../../tools/toolbox.js";
import { firstLine } from "../../rollouts/first-line.js";
import type { AccessDesk } from "../credentials/access-desk.js";
import type { ConversationServers } from "../mcp/conversation-servers.js";
import type { Lease } from "../mcp/mcp-servers.js";
import { ServerLeases } from "../mcp/server-leases.js";
import type { RequestGate } from "../limits/request-gate.js";
import type { Rollout } from "../rollout-writer/rollout.js";
import type { CompactionParts } from "./compaction-parts.js";
import { OutputRoom } from "./output-room.js";
import { GitInfos } from "./git-infos.js";
import { knownStrategies } from "./known-strategies.js";
import type { Conversation } from "./handle.js";
import type { ManagerOptions, NewConversation, ResumeConfig } from "./manager-options.js";
import { type ConversationConfig, recordedConfig, resolveSettings } from "./resolve-settings.js";
import { ProjectContext } from "./project-context.js";
import { Providers } from "./providers.js";
import { homeOf } from "./open-store.js";
import { isPaginated } from "./read-parent.js";
import { namedLine } from "./rename-saved.js";
import { existingFolder, skippedNotice, tornNotice } from "./resume-notices.js";
import { defaultRetry } from "./sampling.js";
import { type Settings, turnContext } from "./settings.js";
import { spawnConversation } from "./spawn-conversation.js";
import { isEmpty, isNewChoice } from "./resumed-state.js";
import { apply, type ConversationState, emptyState } from "./state.js";
import type { OpenedRollout, Store, StoredState } from "./store.js";
import type { ToldPrompt } from "./told-prompt.js";

export function newConversationId(): string {
  return shownId(uuidv7());
}

/** What opening needs from the manager, which keeps the conversations that are open. */
export interface OpenerParts {
  readonly options: ManagerOptions;
  readonly config: Config;
  readonly store: Store;
  readonly compactor: Ref<CompactorOp, CompactorAnswers>;
  readonly counts: TokenCounts;
  readonly gate: RequestGate;
  readonly desk: AccessDesk;
  readonly redactor: TextRedactor;
  readonly pool: CpuPool;
  isLive(conversationId: string): boolean;
  isShutDown(): boolean;
  /** Called before anybody else can have the conversation. */
  onOpen(conversation: Conversation): void;
  onEvent(event: Event): void;
  onEnd(conversationId: string): void;
}

/** What a fork has from another conversation. */
export interface Parent {
  readonly id: string;
  readonly lines: readonly OwnLine[];
  readonly recorded: ConversationConfig;
  readonly notice?: string | undefined;
}

/** Brings a conversation to life: its settings, its rollout and lock, its state, its actor. */
export class ConversationOpener {
  readonly #parts: OpenerParts;
  readonly #providers: Providers;
  readonly #tools: Toolbox;
  readonly #outputRoom = new OutputRoom();
  readonly #toolEnv: Readonly<Record<string, string>>;
  readonly #privatePaths: readonly string[];
  readonly #strategies: ReadonlyMap<string, CompactionStrategy>;
  readonly #gitInfos = new GitInfos();
  readonly #context: ProjectContext;
  readonly #servers: ServerLeases;

  constructor(parts: OpenerParts) {
    this.#parts = parts;
    this.#context = new ProjectContext(parts.options, parts.config, {
      redactor: parts.redactor,
      now: () => this.#now(),
    });
    this.#tools = new Toolbox(parts.options.tools ?? [], this.#context.idleTools);
    this.#servers = new ServerLeases({
      home: homeOf(parts.options),
      configured: parts.config.mcp_servers ?? {},
      env: parts.options.env ?? {},
      log: (text) => parts.options.log?.(text),
    });
    this.#privatePaths = privatePaths({ home: homeOf(parts.options), env: parts.options.env ?? {}, homedir });
    this.#strategies = knownStrategies(parts.options, parts.config);
    this.#toolEnv = toolEnv(parts.options.env ?? {}, parts.config.toolEnv ?? []);
    this.#providers = new Providers(parts.options, {
      desk: parts.desk,
      keys: configuredKeys(parts.config.providers),
      countTokens: (text) => this.#countTokens(text),
      onRest: (provider, ms) => parts.gate.hold(provider, ms),
    });
  }

  /** A new conversation, with what it has from the one it was forked from. */
  async create(config: ConversationConfig, parent?: Parent): Promise<NewConversation> {
    const { id: forkedFrom, lines: inherited = [], recorded = {}, notice: parentNotice } = parent ?? {};
    this.#refuseAfterShutdown();
    const conversationId = config.id === undefined ? newConversationId() : shownId(config.id);
    if (!isConversationId(conversationId)) throw new InvalidInputError(`a conversation id has ${idRule}`);
    if (
      config.id !== undefined &&
      (this.#parts.isLive(conversationId) || (await this.#parts.store.has(conversationId)))
    ) {
      throw new InvalidInputError(`conversation ${conversationId} exists already`);
    }
    const name = config.name === undefined ? undefined : conversationName(config.name);
    const { settings, notice } = this.#resolveSettings(recorded, config);
    const labels = { provider: settings.provider, model: settings.model };
    const [now, { cwd }] = [this.#now(), settings];
    const [{ outcome, notice: openNotice, ...opened }, git, prompt] = await Promise.all([
      this.#parts.store.open({ conversationId, mode: "create", ...labels, now, cwd, force: false }),
      this.#gitInfos.of(settings.cwd),
      this.#context.openPrompt(cwd),
    ]);
    refuseInUse(conversationId, outcome);
    const { rollout } = opened;
    const source = this.#parts.options.source ?? "non_interactive";
    const state = emptyState();
    const first = firstLine({ conversationId, now, cwd, ...labels, source, git, forkedFrom });
    for (const line of [first, ...inherited, ...(name === undefined ? [] : [namedLine(name, now)])]) {
      apply(state, line);
      rollout.append(line);
    }
    // Inherited turns name who played them, not who goes on.
    if (isNewChoice(state, settings, config)) this.#remember(state, settings, rollout);
    // What could not even be opened was waited for already.
    const saved = outcome.status === "not_saved" ? outcome : await rollout.flush();
    const listed = saved.status === "saved" ? await this.#indexName(conversationId, state, "rename") : saved;
    const unlisted = saved.status === "saved" && listed.status === "not_saved" ? listed.reason : undefined;
    await this.#refuseOpened(rollout);
    const { lease, notice: serverNotice } = await this.#servers.open(cwd);
    const conversation = await this.#spawn({
      conversationId,
      state,
      settings,
      ...opened,
      prompt,
      lease,
      sessionSource: source,
      goesOn: false,
      notice: joined([notice, openNotice, parentNotice, unlisted, serverNotice]),
    });
    return { conversation, conversationId, saved };
  }

  /** A saved one, in the same file; `codex_only` when nobody but Codex may write to that. */
  async resume(conversationId: string, config: ResumeConfig): Promise<Conversation | "codex_only"> {
    const { allowEmpty = false, force = false, ...changes } = config;
    // Looked up before the file is read, which may take long, and taken for good afterwards.
    const holder = force ? undefined : await this.#parts.store.holder(conversationId).catch(() => undefined);
    if (holder !== undefined) throw new ConversationInUseError(conversationId, holder);
    const before = await this.#parts.store.load(conversationId);
    if (isEmpty(before.state) && !allowEmpty) throw new EmptyRolloutError(conversationId);
    if (isPaginated(before.state) && this.#parts.config.persistence?.enabled !== false) return "codex_only";
    const recorded = await existingFolder(recordedConfig(before.state));
    const { settings, notice } = this.#resolveSettings(recorded.config, changes);
    const { provider, model, cwd } = settings;
    const {
      outcome,
      notice: openNotice,
      ...opened
    } = await this.#parts.store.open({
      conversationId,
      mode: "append",
      provider,
      model,
      now: this.#now(),
      cwd,
      force,
    });
    refuseInUse(conversationId, outcome);
    const { rollout } = opened;
    await this.#refuseOpened(rollout);
    const prompt = await this.#context.openPrompt(cwd);
    // Someone may have written between the reading and the lock.
    const moved = outcome.status === "open" && outcome.bytes !== 0 && outcome.bytes !== before.bytes;
    const { state, skipped } = moved ? await this.#loadOrClose(conversationId, rollout) : before;
    if (state.meta === undefined) this.#begin(conversationId, state, settings, rollout);
    if (isNewChoice(state, settings, changes)) this.#remember(state, settings, rollout);
    await this.#indexName(conversationId, state, "mend");
    await this.#indexPin(conversationId, state, "mend");
    const { lease, notice: serverNotice } = await this.#servers.open(cwd);
    const notices = [notice, openNotice, recorded.notice, tornNotice(outcome), skippedNotice(skipped), serverNotice];
    return await this.#spawn({
      conversationId,
      state,
      settings,
      ...opened,
      prompt,
      lease,
      sessionSource: { resume: conversationId },
      goesOn: rollout.path !== null,
      notice: joined(notices),
    });
  }

  async #indexName(id: string, { named }: ConversationState, mode: "rename" | "mend"): Promise<SaveOutcome> {
    return named === undefined ? { status: "saved" } : await this.#parts.store.indexName(id, named, mode);
  }

  async #indexPin(id: string, { pin }: ConversationState, mode: "pin" | "mend"): Promise<SaveOutcome> {
    return pin === undefined ? { status: "saved" } : await this.#parts.store.indexPin(id, pin, mode);
  }

  /** A file without its first line, left by a crash right after it was made, gets one. */
  #begin(conversationId: string, state: ConversationState, settings: Settings, rollout: Rollout): void {
    const { provider, model, cwd } = settings;
    const source = this.#parts.options.source ?? "non_interactive";
    const line = firstLine({ conversationId, now: this.#now(), cwd, provider, model, source });
    apply(state, line);
    rollout.append(line);
  }

  /** Who was chosen on resuming answers from then on, also for a process that comes before the next turn. */
  #remember(state: ConversationState, settings: Settings, rollout: Rollout): void {
    const timestamp = this.#now().toISOString();
    const line: OwnLine = { timestamp, type: "turn_context", payload: turnContext(settings) };
    apply(state, line);
    rollout.append(line);
  }

  /** A rollout that cannot be read must not stay locked. */
  async #loadOrClose(conversationId: string, rollout: Rollout): Promise<StoredState> {
    try {
      return await this.#parts.store.load(conversationId);
    } catch (error) {
      await rollout.close();
      throw error;
    }
  }

  async #spawn({ lease, snapshots, ...parts }: SpawnInput): Promise<Conversation> {
    const servers = lease === undefined ? undefined : await this.#serversOf(lease);
    const conversation = spawnConversation({
      ...parts,
      changes: snapshots && { places: snapshots, pool: this.#parts.pool, untracked: new Set() },
      retry: this.#parts.options.retry ?? defaultRetry,
      gate: this.#parts.gate,
      servers,
      tool: (name) => this.#tools.byName.get(name) ?? servers?.tool(name),
      toolSpecs: () => servers?.specs ?? this.#tools.specs,
      toolEnv: this.#toolEnv,
      privatePaths: this.#privatePaths,
      outputRoom: this.#outputRoom,
      limits: effectiveLimits(this.#parts.config.turnLimits),
      compaction: this.#compaction(parts.conversationId),
      maxFileBytes: (this.#parts.config.persistence?.maxFileMegabytes ?? Infinity) * 1_000_000,
      maxTurns: this.#parts.config.history?.maxSize ?? defaultHistoryTurns,
      provider: (settings) => this.#providers.of(settings),
      instructions: ({ cwd }) => parts.prompt.text(cwd),
      refreshInstructions: ({ cwd }, signal) => parts.prompt.refresh(cwd, signal),
      saveKnowledge: ({ cwd }) => this.#context.saveKnowledge(cwd, parts.conversationId),
      price: ({ model }) => priceOf(model, this.#parts.config.models),
      facts: ({ model }) => factsOf(model, this.#parts.config.models),
      countTokens: (text) => this.#countTokens(text),
      now: () => this.#now(),
      newId: uuidv7,
      onEvent: (event) => this.#parts.onEvent(event),
      onRenamed: () => this.#indexName(parts.conversationId, parts.state, "rename"),
      onPinned: () => this.#indexPin(parts.conversationId, parts.state, "pin"),
      onEnd: () => this.#parts.onEnd(parts.conversationId),
    });
    this.#parts.onOpen(conversation);
    return conversation;
  }

  async #serversOf(lease: Lease): Promise<ConversationServers> {
    const { ConversationServers: Servers } = await import("../mcp/conversation-servers.js");
    return new Servers(lease, { names: this.#tools.byName.keys(), specs: () => this.#tools.specs });
  }

  #compaction(conversationId: string): CompactionParts {
    const { compactor, counts, config, store } = this.#parts;
    return {
      compactor,
      counts,
      settings: effectiveCompaction(config.compaction),
      strategies: this.#strategies,
      window: ({ model }) => contextWindow(model, config.models?.[model]?.contextWindow ?? config.contextWindow),
      summaryBy: (settings) => this.#providers.summaryBy(settings),
      savedLines: () => store.read(conversationId),
    };
  }

  #resolveSettings(recorded: ConversationConfig, conversation: ConversationConfig) {
    return resolveSettings({
      config: this.#parts.config,
      recorded,
      conversation,
      env: this.#parts.options.env ?? {},
      inProcess: this.#providers.inProcess,
      cwd: this.#parts.options.cwd ?? process.cwd(),
    });
  }

  /** Lets go of the connections to providers and servers; nothing may be playing any more. */
  async close(): Promise<void> {
    await Promise.all([this.#providers.close(), this.#context.close(), this.#servers.close()]);
  }

  /** For what was opened while the manager was shut down. */
  async #refuseOpened(rollout: Rollout): Promise<void> {
    if (this.#parts.isShutDown()) await rollout.close();
    this.#refuseAfterShutdown();
  }

  #refuseAfterShutdown(): void {
    if (this.#parts.isShutDown()) throw new InvalidInputError("the manager has been shut down");
  }

  #countTokens(text: string): number {
    return this.#parts.options.tokenizer?.countTokens(text) ?? estimateTokens(text);
  }

  #now(): Date {
    return this.#parts.options.now?.() ?? new Date();
  }
}

interface SpawnInput extends Pick<OpenedRollout, "rollout" | "blobs" | "snapshots"> {
  readonly conversationId: string;
  readonly state: ConversationState;
  readonly settings: Settings;
  readonly prompt: ToldPrompt;
  readonly sessionSource: SessionSource;
  readonly goesOn: boolean;
  readonly notice: string | undefined;
  readonly lease: Lease | undefined;
}

function joined(notices: readonly (string | undefined)[]): string | undefined {
  return notices.filter((text) => text !== undefined).join("\n") || undefined;
}

const idRule = "1 to 128 letters, digits, _ and -, the first a letter or digit";

function refuseInUse(conversationId: string, outcome: OpenedRollout["outcome"]): void {
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
}
