import { availableParallelism } from "node:os";
import { effectiveGroup } from "../config/settings/effective-settings.js";
import { factsOf } from "../config/models/models.js";
import type { resolveHomes } from "../config/paths.js";
import type { LearningRedactor } from "../config/secrets/text-redactor.js";
import type { TokenEstimates } from "../compaction/tokens/token-estimates.js";
import type { CompactorAnswers, CompactorEvent, CompactorOp } from "../messages/actors/compactor.js";
import type { OpenConversation } from "../messages/actors/conversation.js";
import type { CredentialsAnswers, CredentialsOp } from "../messages/actors/credentials.js";
import type { KnowledgeAnswers, KnowledgeOp } from "../messages/actors/knowledge.js";
import type { LimitsAnswers, LimitsOp } from "../messages/actors/limits.js";
import type { McpAnswers, McpOp } from "../messages/actors/mcp.js";
import type { SaveOutcome } from "../messages/actors/rollout-writer.js";
import type { Config } from "../messages/settings/config.js";
import type { CpuJobs } from "../workers/cpu-pool.js";
import { openIoPool } from "../workers/io-pool.js";
import type { Pool } from "../workers/pool.js";
import { compactor } from "./compactor/compactor.js";
import type { ConversationLink, HandleSink } from "./conversation/channel.js";
import { ConversationHost } from "./conversation/open/host.js";
import { type ManagerOptions, strategiesByName } from "./conversation/open/manager-options.js";
import { openConversation } from "./conversation/open/open-conversation.js";
import type { Store } from "./conversation/store/store.js";
import { CredentialResolver } from "./credentials/credential-resolver.js";
import { startCredentials } from "./credentials/start-credentials.js";
import { startKnowledge } from "./knowledge/knowledge.js";
import { RequestGate, startLimits } from "./limits/limits.js";
import { startMcp } from "./mcp/mcp.js";
import { ServerLeases } from "./mcp/server-leases.js";
import type { RolloutOutbox } from "./rollout-writer/outbox.js";
import type { Ref } from "./runtime/actor.js";
import { spawn } from "./runtime/spawn.js";
import { poolRef } from "./shards/pool-ref.js";
import { loadSetup, type Setup } from "./shards/setup.js";
import { type ShardReport, Shards } from "./shards/shards.js";
import { startShard } from "./shards/start-shard.js";

export type OpenedLink = ConversationLink & { readonly saved: SaveOutcome };

/** The parts of their manager that the actors need. */
interface SharedActorsParts {
  readonly options: ManagerOptions;
  /** Absent if conversations are not saved. */
  readonly outbox: RolloutOutbox | undefined;
  readonly config: Config;
  readonly homes: ReturnType<typeof resolveHomes>;
  readonly redactor: LearningRedactor;
  readonly store: Store;
  readonly cpu: Pool<CpuJobs>;
  readonly estimates: TokenEstimates;
  readonly now: () => Date;
  /** Called with the name of each injected provider. */
  readonly onProvider: (name: string) => void;
  readonly onCompactorEvent: (event: CompactorEvent) => void;
  /** Warns in every open conversation. */
  readonly warn: (message: string) => void;
}

/** Starts the actors that the conversations of a manager share, and opens conversations in this thread or on shards. */
export class SharedActors {
  /** Starts no thread until something is summarized. */
  readonly #io = openIoPool();
  readonly #limits: Ref<LimitsOp, LimitsAnswers>;
  readonly #credentials: Ref<CredentialsOp, CredentialsAnswers>;
  readonly #knowledge: Ref<KnowledgeOp, KnowledgeAnswers>;
  readonly #mcp: Ref<McpOp, McpAnswers>;
  readonly #compactor: Ref<CompactorOp, CompactorAnswers>;
  /** Hosts the conversations of this thread. */
  #host: Promise<ConversationHost> | undefined;
  readonly #loadHost: () => Promise<ConversationHost>;
  /** Files of conversations outside of the conversation directories, by id. */
  readonly #adopted = new Map<string, string>();
  /** Absent when all conversations run in this thread. */
  readonly #shards: Shards | undefined;

  constructor(parts: SharedActorsParts) {
    const { options, outbox, config, homes, redactor, store, cpu, estimates } = parts;
    const { now, onProvider, onCompactorEvent, warn } = parts;
    this.#limits = startLimits(config.limits ?? {}, (event) => {
      gate.receive(event);
      this.#shards?.broadcast({ type: "limits", event });
    });
    const gate = new RequestGate(this.#limits, { client: "main", limited: Object.keys(config.limits ?? {}) });
    const learned = new Set<string>();
    const learn = (secret: string): void => {
      redactor.learn(secret);
      if (!learned.has(secret)) this.#shards?.broadcast({ type: "secret", secret });
      learned.add(secret);
    };
    this.#credentials = startCredentials({
      home: homes.home,
      env: options.env ?? {},
      logins: config.logins,
      now: () => now().getTime(),
      onEvent: (event) => (event.type === "warning" ? warn(event.message) : learn(event.secret)),
    });
    const keys = { env: options.env ?? {}, providers: config.providers };
    const credentials = new CredentialResolver(this.#credentials, { keys, learn });
    this.#knowledge = startKnowledge({ redactor, now });
    const mcpOptions = { home: homes.home, env: options.env ?? {}, log: (text: string) => options.log?.(text) };
    this.#mcp = startMcp(mcpOptions, (event) => {
      servers.receive(event);
      this.#shards?.broadcast({ type: "mcp", event });
    });
    const configured = config.mcp_servers ?? {};
    const servers = new ServerLeases(this.#mcp, { client: "main", home: homes.home, configured });
    const strategies = strategiesByName(options, config);
    this.#compactor = spawn(
      compactor,
      {
        cpu,
        io: this.#io,
        gate,
        retry: options.retry,
        estimates,
        strategies,
        settings: effectiveGroup(config, "compaction"),
        provider: async (target) => (await this.host()).summaryProvider(target),
        facts: (model) => factsOf(model, config.models),
      },
      { onEvent: ({ msg }) => onCompactorEvent(msg) },
    );
    const openHost = (injected: Setup): ConversationHost => {
      const hostOptions = { ...options, ...injected };
      for (const { name } of hostOptions.providers ?? []) onProvider(name);
      return new ConversationHost({
        options: hostOptions,
        homes,
        config,
        store,
        compactor: this.#compactor,
        isShard: false,
        estimates,
        strategies: [...strategies.keys()],
        gate,
        credentials,
        servers,
        knowledge: this.#knowledge,
        redactor,
        pool: cpu,
      });
    };
    // Without a module to load, wrong options are refused at once.
    if (options.setup === undefined) this.#host = Promise.resolve(openHost({}));
    this.#loadHost = async () => openHost(options.setup === undefined ? {} : await loadSetup(options.setup.href));
    const count = threadCount(options);
    if (count > 0 && outbox !== undefined) {
      this.#shards = new Shards({
        count,
        startThread: (name, control, memory) => {
          const refs = {
            limits: this.#limits,
            credentials: this.#credentials,
            knowledge: this.#knowledge,
            mcp: this.#mcp,
            compactor: this.#compactor,
            pool: poolRef(cpu),
          };
          return startShard({ name, options, control, memory, refs, limited: gate.limited, secrets: [...learned] });
        },
        connectWriter: (send) => {
          void outbox.owner().then(
            (owner) => send({ type: "owner", owner }),
            (error: unknown) => send({ type: "writer_failed", reason: String(error) }),
          );
          return outbox.connect({
            onPort: (port) => send({ type: "writer_port", port }, [port]),
            onFailed: (reason) => send({ type: "writer_failed", reason }),
          });
        },
        onEnded: (client) => {
          void this.#limits.tell({ type: "client_gone", client }).catch(() => undefined);
          void this.#mcp.tell({ type: "client_gone", client }).catch(() => undefined);
        },
      });
    }
  }

  /** Hosts conversations in this thread; loads the `setup` module first, if there is one. */
  host(): Promise<ConversationHost> {
    this.#host ??= this.#loadHost();
    return this.#host;
  }

  /** Opens a conversation on a shard, or in this thread; returns undefined when only Codex may write to it. */
  async open(request: OpenConversation, sink: HandleSink): Promise<OpenedLink | undefined> {
    if (this.#shards === undefined) return await openConversation(await this.host(), request, sink);
    const ids = request.mode === "create" ? [request.parent?.id] : [request.conversationId];
    const paths = ids.flatMap((id = "") => {
      const path = this.#adopted.get(id);
      return path === undefined ? [] : [{ id, path }];
    });
    return await this.#shards.place(request, paths, sink);
  }

  /** Notes the file of a conversation that shards cannot find by its id. */
  adopt(conversationId: string, path: string): void {
    if (this.#shards !== undefined) this.#adopted.set(conversationId, path);
  }

  /** Drops what is prepared for a conversation that has ended. */
  forget(conversationId: string): void {
    void this.#compactor.tell({ type: "forget", conversationId }).catch(() => undefined);
  }

  async shardReports(): Promise<ShardReport[]> {
    return (await this.#shards?.stats()) ?? [];
  }

  /** Ends the shards and the actors. */
  async stop(): Promise<void> {
    await this.#shards?.stop();
    await Promise.all(
      [this.#compactor, this.#limits, this.#credentials, this.#knowledge, this.#mcp].map((actor) => actor.stop()),
    );
  }

  /** Closes the host of this thread and the pool, after `stop`. */
  async close(): Promise<void> {
    await Promise.all([
      this.#io.close(),
      this.#host?.then(
        (host) => host.close(),
        () => undefined,
      ),
    ]);
  }
}

/** The number of shards: none if an injected object ties the conversations to this thread. */
function threadCount({
  threads = 0,
  client,
  recorder,
  tokenizer,
  compactionStrategies,
  providers,
  tools,
  hooks,
  now,
}: ManagerOptions): number {
  const injected = [client, recorder, tokenizer, compactionStrategies, providers, tools, hooks, now];
  if (injected.some((object) => object !== undefined)) return 0;
  return threads === "auto" ? Math.max(1, availableParallelism() - 1) : threads;
}
