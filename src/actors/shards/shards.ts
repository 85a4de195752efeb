import type { OpenConversation } from "../../messages/actors/conversation.js";
import type { ShardStats } from "../../messages/actors/shard.js";
import { FailureError } from "../../messages/failure-error.js";
import type { SaveOutcome } from "../../messages/actors/rollout-writer.js";
import type { ConversationLink, HandleSink } from "../conversation/channel.js";
import { errorFrom } from "./error-data.js";
import { Shard, type ShardDeath } from "./shard.js";
import type { ToShard } from "./start-shard.js";
import type { ShardMemory } from "./shared-memory.js";
import type { MessagePort, Worker } from "node:worker_threads";

const checkMs = 1_000;

/** A thread that is silent for so many checks in a row is ended. Time in which this process did not run has none. */
const maxSilentChecks = 10;

/** A conversation whose code ran when so many threads died, and that completed no turn since, is not opened again. */
const maxDeaths = 3;

/** How many threads may die in a row while they open a conversation: more than others that die beside it could cause. */
export const maxPlacements = 50;

interface ShardsParts {
  /** The number of threads. */
  readonly count: number;
  /** Starts a thread under a name that no other has had. */
  startThread(name: string, control: MessagePort, memory: ShardMemory): Worker;
  /** Connects a thread to the writer; returns a function that ends it. */
  connectWriter(send: (message: ToShard, transfer?: MessagePort[]) => void): () => void;
  /** Called when a thread has ended, with its name. */
  onEnded(name: string): void;
}

interface Hosted {
  readonly name: string;
  readonly shard: Shard;
  readonly disconnect: () => void;
}

/** One shard in the report of `stats`. */
export interface ShardReport extends ShardStats {
  readonly name: string;
  /** Whether it hosts conversations that may have caused the death of another. */
  readonly isQuarantine: boolean;
}

/** Places conversations on worker threads, and replaces threads that die or hang. */
export class Shards {
  readonly #parts: ShardsParts;
  #shards: Hosted[] = [];
  #quarantine: Hosted | undefined;
  readonly #suspects = new Set<string>();
  readonly #deaths = new Map<string, number>();
  #started = 0;
  #checks: NodeJS.Timeout | undefined;

  constructor(parts: ShardsParts) {
    this.#parts = parts;
  }

  /** Opens a conversation on the thread with the fewest; returns undefined when only Codex may write to it. */
  async place(
    request: OpenConversation,
    paths: readonly { readonly id: string; readonly path: string }[],
    sink: HandleSink,
  ): Promise<(ConversationLink & { readonly saved: SaveOutcome }) | undefined> {
    const { outcome, link } = await this.#placed(request, paths, sink);
    if (outcome.status === "codex_only") return undefined;
    if (outcome.status === "failed") throw errorFrom(outcome.error);
    return { ...link, saved: outcome.saved };
  }

  /** Tries other threads when one dies meanwhile, unless the conversation seems to be the cause. */
  async #placed(...[request, ...rest]: Parameters<Shard["place"]>): ReturnType<Shard["place"]> {
    const { conversationId } = request;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#shardFor(conversationId).shard.place(request, ...rest);
      } catch (error) {
        if (!(error instanceof FailureError) || error.code !== "thread_died") throw error;
        const isCause = (this.#deaths.get(conversationId) ?? 0) >= maxDeaths;
        // The file of a new conversation may exist by now, incomplete.
        if (request.mode === "create" || isCause || attempt === maxPlacements) throw error;
      }
    }
  }

  broadcast(message: ToShard): void {
    for (const { shard } of this.#all()) shard.send(message);
  }

  async stats(): Promise<ShardReport[]> {
    const reports = this.#all().map(async ({ name, shard }) => ({
      name,
      isQuarantine: shard === this.#quarantine?.shard,
      ...(await shard.stats()),
    }));
    return (await Promise.allSettled(reports)).flatMap((report) => (report.status === "fulfilled" ? report.value : []));
  }

  async stop(): Promise<void> {
    clearInterval(this.#checks);
    const all = this.#all();
    this.#shards = [];
    this.#quarantine = undefined;
    await Promise.all(all.map(({ shard }) => shard.stop()));
    for (const { disconnect } of all) disconnect();
  }

  #shardFor(conversationId: string): Hosted {
    if (this.#suspects.has(conversationId)) return (this.#quarantine ??= this.#start());
    const least = this.#shards.toSorted((a, b) => a.shard.size - b.shard.size)[0];
    if (least !== undefined && (this.#shards.length >= this.#parts.count || least.shard.size === 0)) return least;
    const started = this.#start();
    this.#shards.push(started);
    return started;
  }

  #start(): Hosted {
    const name = `shard-${(this.#started += 1)}`;
    const shard = new Shard({
      startThread: (control, memory) => this.#parts.startThread(name, control, memory),
      onDeath: (death) => this.#onDeath(hosted, death),
      onCompleted: (conversationId) => {
        this.#deaths.delete(conversationId);
        this.#suspects.delete(conversationId);
      },
    });
    const disconnect = this.#parts.connectWriter((message, transfer) => shard.send(message, transfer));
    const hosted = { name, shard, disconnect };
    this.#checks ??= this.#watch();
    return hosted;
  }

  /**
   * Only time in which this thread ran counts: after the process was suspended, every shard gets its full time again.
   */
  #watch(): NodeJS.Timeout {
    let last = performance.now();
    return setInterval(() => {
      const now = performance.now();
      const isOnTime = now - last < 2 * checkMs;
      last = now;
      if (isOnTime) for (const { shard } of this.#all()) shard.check(maxSilentChecks);
    }, checkMs).unref();
  }

  #onDeath(dead: Hosted, { reason, runner, lost }: ShardDeath): void {
    dead.disconnect();
    this.#shards = this.#shards.filter((hosted) => hosted !== dead);
    if (this.#quarantine === dead) this.#quarantine = undefined;
    this.#parts.onEnded(dead.name);
    const alone = lost.length === 1 ? lost[0] : undefined;
    const culprit = runner ?? (alone?.isActive === true ? alone.conversationId : undefined);
    if (culprit !== undefined) this.#deaths.set(culprit, (this.#deaths.get(culprit) ?? 0) + 1);
    for (const { conversationId, isActive } of lost) {
      if (conversationId === runner || (runner === undefined && isActive)) this.#suspects.add(conversationId);
    }
    for (const { conversationId, sink } of lost) {
      const deaths = this.#deaths.get(conversationId) ?? 0;
      const isStopped = conversationId === culprit && deaths >= maxDeaths;
      sink.lost(
        isStopped ? `the conversation was stopped: its thread has died ${deaths} times (${reason})` : undefined,
      );
    }
  }

  #all(): Hosted[] {
    return [...this.#shards, ...(this.#quarantine === undefined ? [] : [this.#quarantine])];
  }
}
