import { homedir } from "node:os";
import { resolve } from "node:path";
import { v7 as uuidv7 } from "uuid";
import { limitOf } from "../../../compaction/tokens/compaction-threshold.js";
import type { TokenEstimates } from "../../../compaction/tokens/token-estimates.js";
import { type ContextWindow, contextWindow, factsOf, priceOf } from "../../../config/models/models.js";
import { type Homes, privatePaths } from "../../../config/paths.js";
import type { ProjectCommands } from "../../../config/project/project-config.js";
import { ProjectFinder, type ProjectRoots, readGitInfo } from "../../../config/project/project.js";
import { isTrustedRoot } from "../../../config/project/trust.js";
import { configuredKeys } from "../../../config/providers/vendors.js";
import { createRedactor, secretsOf } from "../../../config/secrets/redact.js";
import type { LearningRedactor } from "../../../config/secrets/text-redactor.js";
import { effectiveGroup, effectiveSetting } from "../../../config/settings/effective-settings.js";
import type { KnowledgeAnswers, KnowledgeOp } from "../../../messages/actors/knowledge.js";
import { type Config, ProviderName } from "../../../messages/settings/config.js";
import type { CompactorAnswers, CompactorOp, ModelTarget } from "../../../messages/actors/compactor.js";
import type { ConversationConfig } from "../../../messages/settings/conversation-config.js";
import type { HooksConfig } from "../../../messages/hooks.js";
import type { GitInfo } from "../../../messages/rollout-line.js";
import { check } from "../../../base/parse.js";
import { bareId } from "../../../base/text/conversation-id.js";
import { quotedWord } from "../../../base/text/quoted-command.js";
import { defaultRetry } from "../../../base/time/retry.js";
import { builtInProviders } from "../../../providers/offline/provider.js";
import { clientProvider } from "../../../providers/client-provider.js";
import type { Provider } from "../../../providers/provider.js";
import { proxyVariables } from "../../../providers/transport/http-fetch.js";
import type { Transport } from "../../../providers/transport/transport.js";
import { wireProvider } from "../../../providers/wire-provider.js";
import type { OpenedSandbox, SandboxRequest, Sandboxes } from "../../../sandbox/sandboxes.js";
import { toolEnv } from "../../../tools/exec/tool-env.js";
import { Toolbox } from "../../../tools/toolbox.js";
import type { CpuPool } from "../../../workers/cpu-pool.js";
import type { SummaryProvider } from "../../compactor/summarizer.js";
import type { CredentialResolver } from "../../credentials/credential-resolver.js";
import type { RequestGate } from "../../limits/limits.js";
import type { ConversationServers } from "../../mcp/conversation-servers.js";
import type { ServerLeases } from "../../mcp/server-leases.js";
import type { Ref } from "../../runtime/actor.js";
import { OutputMemory } from "../calls/output-store.js";
import { ConversationHooks } from "../hooks/conversation-hooks.js";
import { Permissions } from "../calls/permissions.js";
import type { CompactionContext, StartContext } from "../conversation-context.js";
import type { ManagerOptions } from "./manager-options.js";
import { type Settings, type ResolvedSettings, resolveSettings } from "../state/settings.js";
import type { OpenedRollout, Store } from "../store/store.js";
import { type ConversationPrompt, ProjectContext } from "../turn/system-prompt.js";
import type { SessionSource, StartSource } from "../../../messages/turn-context.js";

/** The dependencies that the conversations of one thread get from their manager. */
interface HostParts {
  readonly options: ManagerOptions;
  readonly homes: Homes;
  readonly config: Config;
  readonly store: Store;
  readonly compactor: Ref<CompactorOp, CompactorAnswers>;
  /** Whether the actors that conversations share, such as the compactor, are in another thread. */
  readonly isShard: boolean;
  readonly estimates: TokenEstimates;
  /** The names of the compaction strategies. */
  readonly strategies: readonly string[];
  readonly gate: RequestGate;
  readonly credentials: CredentialResolver;
  readonly servers: ServerLeases;
  readonly knowledge: Ref<KnowledgeOp, KnowledgeAnswers>;
  readonly redactor: LearningRedactor;
  readonly pool: CpuPool;
}

/** The parts in which one conversation differs from the others of its host. */
interface OwnParts extends Pick<OpenedRollout, "blobs" | "snapshots"> {
  readonly conversationId: string;
  readonly prompt: ConversationPrompt;
  readonly sessionSource: SessionSource;
  readonly servers: ConversationServers | undefined;
}

interface ProjectHooks {
  readonly root: string;
  /** Empty unless the user trusts them. */
  readonly config: HooksConfig;
}

/** The servers and hooks that a conversation gets from its project. */
interface OpenedProject {
  readonly servers: ConversationServers | undefined;
  readonly hooks: ProjectHooks;
  readonly notice: string | undefined;
}

interface OwnHooks {
  readonly conversationId: string;
  readonly rolloutPath: string | null;
  readonly project: ProjectHooks;
  /** Undefined when the conversation only woke. */
  readonly opened: "startup" | "resume" | undefined;
}

/** The resources that all conversations of a thread share: the store, providers, tools, servers, instructions and compaction. */
export class ConversationHost {
  readonly config: Config;
  readonly store: Store;
  readonly projects: ProjectFinder = new ProjectFinder();
  readonly #parts: HostParts;
  readonly #providers: Providers;
  readonly #tools: Toolbox;
  readonly #outputMemory = new OutputMemory();
  readonly #toolEnv: Readonly<Record<string, string>>;
  readonly #privatePaths: readonly string[];
  readonly #permissions: Permissions;
  readonly #context: ProjectContext;
  #sandboxes: Promise<Sandboxes> | undefined;
  readonly #gitInfos = new Map<string, Promise<GitInfo | undefined>>();

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.config = parts.config;
    this.store = parts.store;
    this.#context = new ProjectContext(parts.config, {
      homes: parts.homes,
      projects: this.projects,
      knowledge: parts.knowledge,
      now: () => this.now(),
    });
    this.#tools = new Toolbox(parts.options.tools ?? [], this.#context.idleTools);
    this.#privatePaths = privatePaths(parts.homes);
    const { directory } = parts.config.persistence ?? {};
    this.#permissions = new Permissions({
      homes: parts.homes,
      userHome: parts.options.env?.["HOME"] || homedir(),
      rules: parts.options.rules ?? {},
      conversationFolders: directory === undefined ? [] : [resolve(parts.homes.home, directory)],
    });
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
      config: this.config,
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

  /** How new conversations are started, as recorded in their first line. */
  get source(): StartSource {
    return this.#parts.options.source ?? "non_interactive";
  }

  now(): Date {
    return this.#parts.options.now?.() ?? new Date();
  }

  /** Returns the system prompt of a conversation, with its files already read. The user has seen `shownNotices`. */
  openPrompt(cwd: string, shownNotices?: readonly string[]): Promise<ConversationPrompt> {
    return this.#context.openPrompt(cwd, shownNotices);
  }

  /** Reads git information of a project. Conversations that are opened together read it once. */
  gitInfo(root: string): Promise<GitInfo | undefined> {
    const known = this.#gitInfos.get(root);
    if (known !== undefined) return known;
    const lookup = readGitInfo(root).finally(() => this.#gitInfos.delete(root));
    this.#gitInfos.set(root, lookup);
    return lookup;
  }

  /** Finds the provider of a model that summarizes. */
  summaryProvider(target: ModelTarget): SummaryProvider {
    return this.#providers.summaryBy(target);
  }

  /** Leases the servers of a project and reads its hooks, with a notice for the user. */
  async openProject({ realRoot }: Pick<ProjectRoots, "realRoot">): Promise<OpenedProject> {
    const project = await this.#parts.servers.project(realRoot);
    const { lease, notice } = await this.#parts.servers.open(project);
    const hooks = { root: realRoot, config: project.isAllowed ? project.hooks : {} };
    const notices = [notice, unusedHooksNotice(project)].filter((text) => text !== undefined);
    const opened = { hooks, notice: notices.length === 0 ? undefined : notices.join("\n") };
    if (lease === undefined) return { ...opened, servers: undefined };
    const { ConversationServers: Servers } = await import("../../mcp/conversation-servers.js");
    const own = { names: this.#tools.byName.keys(), specs: () => this.#tools.specs };
    return { ...opened, servers: new Servers(lease, own) };
  }

  /** The hooks of a conversation; undefined when there are none. */
  hooks(own: OwnHooks): ConversationHooks | undefined {
    const { hooks: functions = {} } = this.#parts.options;
    const commands = [this.config.hooks ?? {}, own.project.config].filter((config) => Object.keys(config).length > 0);
    if (commands.length + Object.keys(functions).length === 0) return undefined;
    return new ConversationHooks({
      commands,
      functions,
      env: this.#toolEnv,
      projectRoot: own.project.root,
      sessionId: bareId(own.conversationId),
      transcriptPath: own.rolloutPath,
      opened: own.opened,
    });
  }

  /** The part of a conversation's context that its host provides. */
  startContext({ conversationId, sessionSource, prompt, servers, blobs, snapshots }: OwnParts): HostedContext {
    const { config } = this;
    return {
      conversationId,
      sessionSource,
      blobs,
      changes: snapshots && { places: snapshots, pool: this.#parts.pool, untracked: new Set() },
      retry: this.#parts.options.retry ?? defaultRetry,
      gate: this.#parts.gate,
      servers,
      tool: (name) => this.#tools.byName.get(name) ?? servers?.tool(name),
      toolSpecs: () => servers?.specs ?? this.#tools.specs,
      toolEnv: this.#toolEnv,
      privatePaths: this.#privatePaths,
      openSandbox: ({ cwd, sandbox }) => this.#openSandbox({ conversationId, cwd, sandbox }),
      permissions: this.#permissions,
      maskOutput: (text) => this.#parts.redactor.maskOutput(text),
      outputMemory: this.#outputMemory,
      limits: effectiveGroup(config, "turnLimits"),
      compaction: this.#compaction(conversationId),
      maxFileBytes: (effectiveSetting(config, "persistence.maxFileMegabytes") ?? Infinity) * 1_000_000,
      maxTurns: effectiveSetting(config, "history.maxSize"),
      provider: (settings) => this.#providers.of(settings),
      instructions: ({ cwd }) => prompt.text(cwd),
      refreshInstructions: ({ cwd }, signal) => prompt.refresh(cwd, signal),
      saveKnowledge: ({ cwd }) => this.#context.saveKnowledge(cwd, conversationId),
      isTrusted: (root) => isTrustedRoot(this.#parts.homes.home, root),
      price: ({ model }) => priceOf(model, config.models),
      facts: ({ model }) => factsOf(model, config.models),
      now: () => this.now(),
      newId: uuidv7,
    };
  }

  /** Releases the connections to providers and the folders of sandboxes; no turn may be running any more. */
  async close(): Promise<void> {
    await this.#providers.close();
    await (await this.#sandboxes)?.close();
  }

  /** Loaded on first use: most conversations begin without a command. */
  async #openSandbox(request: SandboxRequest): Promise<OpenedSandbox> {
    this.#sandboxes ??= import("../../../sandbox/sandboxes.js").then(
      ({ Sandboxes: Loaded }) =>
        new Loaded({ homes: this.#parts.homes, config: this.config, env: this.#parts.options.env ?? {} }),
    );
    return await (await this.#sandboxes).open(request);
  }

  #compaction(conversationId: string): CompactionContext {
    const { compactor, estimates, strategies, config, store } = this.#parts;
    const settings = effectiveGroup(config, "compaction");
    const window = ({ model }: Settings): ContextWindow =>
      contextWindow(model, config.models?.[model]?.contextWindow ?? config.contextWindow);
    return {
      compactor,
      isInOtherThread: this.#parts.isShard,
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
}

/** A user who has explicitly distrusted the project needs no notice. */
function unusedHooksNotice({ trust, isChanged, hooks, root }: ProjectCommands): string | undefined {
  if ((trust !== undefined && !isChanged) || Object.keys(hooks).length === 0) return undefined;
  const why = isChanged ? "you have not trusted them as they are now" : "the project is not trusted";
  const what = `This project's hooks (${Object.keys(hooks).join(", ")}) are not run, because ${why}`;
  return `${what}. See: cody hooks list. To trust ${isChanged ? "them" : "it"}: cody trust ${quotedWord(root)}`;
}

/** The part of a conversation's context that its host provides. */
type HostedContext = Omit<StartContext, "cell" | "rollout" | "hooks" | "eventRoom"> & { readonly maxFileBytes: number };

interface ProviderParts {
  readonly credentials: CredentialResolver;
  /** The API keys in the configuration. */
  readonly keys: readonly string[];
  countTokens(text: string): number;
  /** Called when a provider asks for a pause. */
  onRateLimitPause(provider: string, ms: number): void;
}

/** Selects a provider: the settings of a turn, or the target of a summary. */
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
