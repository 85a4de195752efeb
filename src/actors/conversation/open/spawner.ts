import { v7 as uuidv7 } from "uuid";
import { limitOf } from "../../../compaction/tokens/compaction-threshold.js";
import type { TokenEstimates } from "../../../compaction/tokens/token-estimates.js";
import { type ContextWindow, contextWindow, factsOf, priceOf } from "../../../config/models/models.js";
import { type Homes, privatePaths } from "../../../config/paths.js";
import { type ProjectFinder, type ProjectRoots, isTrustedRoot } from "../../../config/project/project.js";
import { configuredKeys } from "../../../config/providers/vendors.js";
import { createRedactor, secretsOf } from "../../../config/secrets/redact.js";
import { effectiveGroup, effectiveSetting } from "../../../config/settings/effective-settings.js";
import { type Config, ProviderName } from "../../../messages/config.js";
import type { CompactorAnswers, CompactorEvent, CompactorOp, ModelTarget } from "../../../messages/compactor.js";
import type { ConversationConfig } from "../../../messages/conversation-config.js";
import type { Event, EventMsg } from "../../../messages/event.js";
import { check } from "../../../base/parse.js";
import { defaultRetry } from "../../../base/time/retry.js";
import type { TextRedactor } from "../../../base/text/redaction.js";
import type { SaveOutcome } from "../../../messages/rollout-writer.js";
import { builtInProviders } from "../../../providers/offline/provider.js";
import { clientProvider } from "../../../providers/client-provider.js";
import type { Provider } from "../../../providers/provider.js";
import { proxyVariables } from "../../../providers/transport/http-fetch.js";
import type { Transport } from "../../../providers/transport/transport.js";
import { wireProvider } from "../../../providers/wire-provider.js";
import { toolEnv } from "../../../tools/exec/tool-env.js";
import { Toolbox } from "../../../tools/toolbox.js";
import type { CpuPool } from "../../../workers/cpu-pool.js";
import type { SummaryProvider } from "../../compactor/summarizer.js";
import type { CredentialResolver } from "../../credentials/credential-resolver.js";
import type { RequestGate } from "../../limits/limits.js";
import type { ConversationServers } from "../../mcp/conversation-servers.js";
import type { Lease } from "../../mcp/mcp-servers.js";
import { ServerLeases } from "../../mcp/server-leases.js";
import type { Ref } from "../../runtime/actor.js";
import { OutputMemory } from "../calls/output-store.js";
import type { CompactionParts } from "../conversation-context.js";
import type { ManagerOptions } from "./manager-options.js";
import type { Conversation } from "../handle.js";
import { type Settings, type ResolvedSettings, resolveSettings } from "../state/settings.js";
import type { ConversationState } from "../state/state.js";
import type { OpenedRollout, Store } from "../store/store.js";
import { type ConversationPrompt, ProjectContext } from "../turn/system-prompt.js";
import { spawnConversation } from "./spawn-conversation.js";
import type { SessionSource } from "../../../messages/turn-context.js";

/** The manager's parts that its conversations share. */
export interface SpawnerParts {
  readonly options: ManagerOptions;
  readonly homes: Homes;
  readonly projects: ProjectFinder;
  readonly config: Config;
  readonly store: Pick<Store, "read">;
  readonly compactor: Ref<CompactorOp, CompactorAnswers>;
  readonly estimates: TokenEstimates;
  /** The names of the compaction strategies. */
  readonly strategies: readonly string[];
  readonly gate: RequestGate;
  readonly credentials: CredentialResolver;
  readonly redactor: TextRedactor;
  readonly pool: CpuPool;
  /** Called before any other code gets the conversation. */
  onOpen(conversation: Conversation): void;
  onEvent(event: Event): void;
  /** Called with the function that takes the compactor's events for a conversation. */
  onCompactorEvents(conversationId: string, receive: (event: CompactorEvent) => void): void;
  onEnd(conversationId: string): void;
}

/** The inputs of one conversation. */
export interface SpawnInput extends Pick<OpenedRollout, "rollout" | "blobs" | "snapshots"> {
  readonly conversationId: string;
  readonly state: ConversationState;
  /** The transcript shown on resume. */
  readonly shown: readonly EventMsg[];
  readonly settings: Settings;
  readonly prompt: ConversationPrompt;
  readonly sessionSource: SessionSource;
  readonly recordedCwd: string | undefined;
  readonly continuesOpenTurn: boolean;
  readonly notice: string | undefined;
  readonly lease: Lease | undefined;
  onRenamed(): Promise<SaveOutcome>;
  onPinned(): Promise<SaveOutcome>;
}

/**
 * Starts conversations with the resources that a manager shares: providers, tools, servers, instructions, compaction.
 */
export class ConversationSpawner {
  readonly #parts: SpawnerParts;
  readonly #providers: Providers;
  readonly #tools: Toolbox;
  readonly #outputMemory = new OutputMemory();
  readonly #toolEnv: Readonly<Record<string, string>>;
  readonly #privatePaths: readonly string[];
  readonly #context: ProjectContext;
  readonly #servers: ServerLeases;

  constructor(parts: SpawnerParts) {
    this.#parts = parts;
    this.#context = new ProjectContext(parts.config, {
      homes: parts.homes,
      projects: parts.projects,
      redactor: parts.redactor,
      now: () => this.#now(),
    });
    this.#tools = new Toolbox(parts.options.tools ?? [], this.#context.idleTools);
    this.#servers = new ServerLeases({
      home: parts.homes.home,
      configured: parts.config.mcp_servers ?? {},
      env: parts.options.env ?? {},
      log: (text) => parts.options.log?.(text),
    });
    this.#privatePaths = privatePaths(parts.homes);
    this.#toolEnv = toolEnv(parts.options.env ?? {}, parts.config.toolEnv ?? []);
    this.#providers = new Providers(parts.options, {
      credentials: parts.credentials,
      keys: configuredKeys(parts.config.providers),
      countTokens: (text) => parts.estimates.ofText(text),
      onRateLimitPause: (provider, ms) => parts.gate.hold(provider, ms),
    });
  }

  /** Resolves a conversation's settings from the requested, recorded and configured ones. */
  settings(recorded: ConversationConfig, conversation: ConversationConfig): ResolvedSettings {
    return resolveSettings({
      config: this.#parts.config,
      recorded,
      conversation,
      env: this.#parts.options.env ?? {},
      inProcess: this.#providers.inProcess,
      cwd: this.cwd,
    });
  }

  /** The caller's working directory. */
  get cwd(): string {
    return this.#parts.options.cwd ?? process.cwd();
  }

  /** Returns the system prompt of a new conversation, with its files already read. */
  openPrompt(cwd: string): Promise<ConversationPrompt> {
    return this.#context.openPrompt(cwd);
  }

  /** Leases the servers for a project, with a notice for the user. */
  leaseServers({ realRoot }: ProjectRoots): ReturnType<ServerLeases["open"]> {
    return this.#servers.open(realRoot);
  }

  /** Finds the provider of a model that summarizes. */
  summaryProvider(target: ModelTarget): SummaryProvider {
    return this.#providers.summaryBy(target);
  }

  /** Starts the actor of a conversation whose rollout is open. */
  async spawn({ lease, snapshots, ...parts }: SpawnInput): Promise<Conversation> {
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
      outputMemory: this.#outputMemory,
      limits: effectiveGroup(this.#parts.config, "turnLimits"),
      compaction: this.#compaction(parts.conversationId),
      maxFileBytes: (effectiveSetting(this.#parts.config, "persistence.maxFileMegabytes") ?? Infinity) * 1_000_000,
      maxTurns: effectiveSetting(this.#parts.config, "history.maxSize"),
      provider: (settings) => this.#providers.of(settings),
      instructions: ({ cwd }) => parts.prompt.text(cwd),
      refreshInstructions: ({ cwd }, signal) => parts.prompt.refresh(cwd, signal),
      saveKnowledge: ({ cwd }) => this.#context.saveKnowledge(cwd, parts.conversationId),
      isTrusted: (root) => isTrustedRoot(this.#parts.homes.home, root),
      price: ({ model }) => priceOf(model, this.#parts.config.models),
      facts: ({ model }) => factsOf(model, this.#parts.config.models),
      countTokens: (text) => this.#parts.estimates.ofText(text),
      now: () => this.#now(),
      newId: uuidv7,
      onEvent: (event) => this.#parts.onEvent(event),
      onCompactorEvents: (receive) => this.#parts.onCompactorEvents(parts.conversationId, receive),
      onEnd: () => this.#parts.onEnd(parts.conversationId),
    });
    this.#parts.onOpen(conversation);
    return conversation;
  }

  /** Releases the connections to providers and servers; no turn may be running any more. */
  async close(): Promise<void> {
    await Promise.all([this.#providers.close(), this.#context.close(), this.#servers.close()]);
  }

  async #serversOf(lease: Lease): Promise<ConversationServers> {
    const { ConversationServers: Servers } = await import("../../mcp/conversation-servers.js");
    return new Servers(lease, { names: this.#tools.byName.keys(), specs: () => this.#tools.specs });
  }

  #compaction(conversationId: string): CompactionParts {
    const { compactor, estimates, strategies, config, store } = this.#parts;
    const settings = effectiveGroup(config, "compaction");
    const window = ({ model }: Settings): ContextWindow =>
      contextWindow(model, config.models?.[model]?.contextWindow ?? config.contextWindow);
    return {
      compactor,
      estimates,
      settings,
      strategies,
      window,
      limit: (turn) => {
        const { tokens, isAssumed } = window(turn);
        const own = config.models?.[turn.model]?.compaction;
        const thresholds = {
          ratio: own?.ratio ?? settings.ratio,
          tokenLimit: own?.tokenLimit ?? settings.tokenLimit,
          reserveTokens: own?.reserveTokens ?? settings.reserveTokens,
        };
        return limitOf({ window: tokens, assumed: isAssumed, settings: thresholds });
      },
      savedLines: () => store.read(conversationId),
    };
  }

  #now(): Date {
    return this.#parts.options.now?.() ?? new Date();
  }
}

interface ProviderParts {
  readonly credentials: CredentialResolver;
  /** The API keys in the configuration. */
  readonly keys: readonly string[];
  countTokens(text: string): number;
  /** Called when a provider asks for a pause. */
  onRateLimitPause(provider: string, ms: number): void;
}

/** What selects a provider: settings of a turn, or the target of a summary. */
type ProviderChoice = Pick<ModelTarget, "provider" | "api" | "baseUrl" | "login">;

/** The providers of one manager's conversations, with their shared connections. */
class Providers {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #client: Provider | undefined;
  readonly #inProcess: ReadonlyMap<string, Provider>;
  readonly #offline: Provider | undefined;
  readonly #wireProviders = new Map<string, Provider>();
  readonly #parts: ProviderParts;
  #transport: Promise<Transport> | undefined;
  #redactor: ((text: string) => string) | undefined;

  constructor(options: ManagerOptions, parts: ProviderParts) {
    const { client, providers = [], env = {} } = options;
    // A provider with an invalid name could not be selected.
    for (const { name } of providers) check(ProviderName, name, "the name of a provider");
    this.#parts = parts;
    this.#env = env;
    this.#client = client === undefined ? undefined : clientProvider(client);
    const builtIn = builtInProviders({ countTokens: (text) => parts.countTokens(text) });
    this.#offline = builtIn.find(({ name }) => name === "offline");
    const known = [...builtIn, ...providers];
    this.#inProcess = new Map(known.map((provider) => [provider.name, provider]));
  }

  /** The names of the providers that need no connection; undefined when an injected client replaces all of them. */
  get inProcess(): ReadonlySet<string> | undefined {
    return this.#client === undefined ? new Set(this.#inProcess.keys()) : undefined;
  }

  of(settings: ProviderChoice): Provider {
    return this.#client ?? this.#inProcess.get(settings.provider) ?? this.#reached(settings);
  }

  /** Returns the model that summarizes for these settings: in a thread, unless it was injected into this one. */
  summaryBy(settings: ProviderChoice): SummaryProvider {
    const { provider, api, baseUrl, login } = settings;
    const access = this.#parts.credentials.accessTo({ provider, ...(login === undefined ? {} : { login }) });
    const isReached = this.#client === undefined && !this.#inProcess.has(provider);
    if (isReached && api !== undefined) {
      return { kind: "wire", provider, api, baseUrl, access, env: proxyVariables(this.#env) };
    }
    const answerer = this.of(settings);
    return answerer === this.#offline ? { kind: "offline" } : { kind: "provider", provider: answerer };
  }

  async close(): Promise<void> {
    (await this.#transport)?.close();
  }

  #reached({ provider, api, baseUrl, login }: ProviderChoice): Provider {
    if (api === undefined) throw new Error(`unknown provider ${provider}`);
    const key = `${provider} ${api} ${baseUrl} ${login}`;
    const known = this.#wireProviders.get(key);
    if (known !== undefined) return known;
    const created = wireProvider({
      provider,
      api,
      baseUrl,
      transport: () => (this.#transport ??= this.#connect()),
      ...this.#parts.credentials.accessTo({ provider, ...(login === undefined ? {} : { login }) }),
      redact: (text) => (this.#redactor ??= this.#makeRedactor())(text),
      onRateLimitPause: (ms) => this.#parts.onRateLimitPause(provider, ms),
    });
    this.#wireProviders.set(key, created);
    return created;
  }

  #makeRedactor(): (text: string) => string {
    return createRedactor([...secretsOf(this.#env), ...this.#parts.keys]);
  }

  /** Loaded on first use: the offline model does not need it. */
  async #connect(): Promise<Transport> {
    const { createTransport } = await import("../../../providers/transport/node-transport.js");
    return createTransport(this.#env);
  }
}
