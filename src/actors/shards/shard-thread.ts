import { homedir } from "node:os";
import { performance } from "node:perf_hooks";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { errorMessage } from "../../base/error-message.js";
import { resolveHomes } from "../../config/paths.js";
import { ownShape } from "../../config/files/written-config.js";
import { redactionRules } from "../../config/secrets/redact.js";
import { LearningRedactor } from "../../config/secrets/text-redactor.js";
import { parsed } from "../../base/parse.js";
import { Deferred } from "../../base/time/waiting.js";
import type { ConversationMsg, ConversationOp } from "../../messages/actors/conversation.js";
import type { PlaceOutcome, ShardAnswers, ShardOp, ShardStarted } from "../../messages/actors/shard.js";
import { Config } from "../../messages/settings/config.js";
import { FailureError } from "../../messages/failure-error.js";
import type { LockOwner } from "../../messages/actors/rollout-writer.js";
import { strategies } from "../../compaction/strategy-for.js";
import { TokenEstimates } from "../../compaction/tokens/token-estimates.js";
import { withEstimateFallback } from "../compactor/tokenizer.js";
import { ConversationHost } from "../conversation/open/host.js";
import type { ManagerOptions } from "../conversation/open/manager-options.js";
import { openConversation, type OpenedConversation } from "../conversation/open/open-conversation.js";
import type { EventSink } from "../conversation/channel.js";
import { type DeltaMsg, isDeltaMsg } from "../conversation/events.js";
import { openStore } from "../conversation/store/open-store.js";
import { CredentialResolver } from "../credentials/credential-resolver.js";
import { RequestGate } from "../limits/limits.js";
import { ServerLeases } from "../mcp/server-leases.js";
import { RolloutOutbox } from "../rollout-writer/outbox.js";
import type { WriterListener } from "../rollout-writer/writer-thread.js";
import { portRef, serveRef } from "../runtime/port-ref.js";
import { errorData } from "./error-data.js";
import { EventBatches, type Unsent } from "./event-batches.js";
import { remotePool } from "./pool-ref.js";
import { loadSetup } from "./setup.js";
import { ShardMemory } from "./shared-memory.js";
import type { ShardStart, ToShard } from "./start-shard.js";

const beatMs = 250;

interface Placed {
  readonly opened: OpenedConversation;
  readonly sink: ShardSink;
}

/** Hosts conversations in this thread. This call is all that the thread's entry file contains. */
export async function serveShard(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("serveShard: not in a worker thread");
  const start = workerData as ShardStart;
  const memory = new ShardMemory(start.memory);
  setInterval(() => memory.beat(), beatMs);
  const writer = new WriterPorts();
  const receivers: Partial<Receivers> = {};
  port.on("message", (message: ToShard) => {
    switch (message.type) {
      case "owner":
        return writer.setOwner(message.owner);
      case "writer_port":
        return writer.port(message.port);
      case "writer_failed":
        return writer.failed(message.reason);
      case "limits":
        return receivers.gate?.receive(message.event);
      case "mcp":
        return receivers.servers?.receive(message.event);
      case "secret":
        return receivers.redactor?.learn(message.secret);
    }
  });
  try {
    const host = await openHost(start, writer, receivers);
    const batches = new EventBatches(start.control, () => (memory.running = 0));
    serveRef(new Shard(host, batches, memory), start.control);
    port.postMessage({ type: "started" } satisfies ShardStarted, []);
  } catch (error) {
    port.postMessage({ type: "failed", message: errorMessage(error) } satisfies ShardStarted, []);
  }
}

/** The objects that follow events of the main thread's actors. */
interface Receivers {
  gate: RequestGate;
  servers: ServerLeases;
  redactor: LearningRedactor;
}

async function openHost(
  start: ShardStart,
  writer: WriterPorts,
  receivers: Partial<Receivers>,
): Promise<ConversationHost> {
  const { name: client, ports, limited } = start;
  const injected = start.setup === undefined ? {} : await loadSetup(start.setup);
  const outbox = new RolloutOutbox({
    writer,
    owner: () => writer.owner,
  });
  const options: ManagerOptions = { ...start.options, ...injected, outbox };
  const env = options.env ?? {};
  const config = parsed(Config, ownShape(options.config ?? {}), "config");
  const homes = resolveHomes({ home: options.home, env, homedir });
  const redactor = new LearningRedactor(redactionRules(config, env));
  for (const secret of start.secrets) redactor.learn(secret);
  const pool = remotePool(portRef(ports.pool, "pool"));
  const gate = new RequestGate(portRef(ports.limits, "limits"), { client, limited });
  const learn = (secret: string): void => redactor.learn(secret);
  const keys = { env, providers: config.providers };
  const servers = new ServerLeases(portRef(ports.mcp, "mcp"), {
    client,
    home: homes.home,
    configured: config.mcp_servers ?? {},
  });
  Object.assign(receivers, { gate, servers, redactor });
  const { tokenizer } = options;
  return new ConversationHost({
    options,
    homes,
    config,
    store: openStore(options, config, { homes, cpu: pool, redactor }),
    compactor: portRef(ports.compactor, "compactor"),
    isShard: true,
    estimates: new TokenEstimates(tokenizer && withEstimateFallback(tokenizer, () => undefined)),
    strategies: [...strategies.keys()],
    gate,
    credentials: new CredentialResolver(portRef(ports.credentials, "credentials"), { keys, learn }),
    servers,
    knowledge: portRef(ports.knowledge, "knowledge"),
    redactor,
    pool,
  });
}

/** The ports to the writer's threads, which may come before they are asked for. */
class WriterPorts {
  readonly #owner = new Deferred<LockOwner>();
  #listener: WriterListener | undefined;
  #port: MessagePort | undefined;
  #failure: string | undefined;

  connect(listener: WriterListener): () => void {
    this.#listener = listener;
    if (this.#port !== undefined) listener.onPort(this.#port);
    if (this.#failure !== undefined) listener.onFailed(this.#failure);
    this.#port = undefined;
    return () => (this.#listener = undefined);
  }

  get owner(): Promise<LockOwner> {
    return this.#owner.promise;
  }

  setOwner(owner: LockOwner): void {
    this.#owner.resolve(owner);
  }

  port(port: MessagePort): void {
    if (this.#listener === undefined) this.#port = port;
    else this.#listener.onPort(port);
  }

  failed(reason: string): void {
    this.#failure = reason;
    this.#listener?.onFailed(reason);
  }
}

/** The conversations of this thread, as the main thread reaches them. */
class Shard {
  readonly #host: ConversationHost;
  readonly #batches: EventBatches;
  readonly #memory: ShardMemory;
  readonly #placed = new Map<string, Placed>();

  constructor(host: ConversationHost, batches: EventBatches, memory: ShardMemory) {
    this.#host = host;
    this.#batches = batches;
    this.#memory = memory;
  }

  tell(op: ShardOp): Promise<unknown> {
    return this.ask(op);
  }

  async ask(op: ShardOp, signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.#handle(op, signal);
    } finally {
      this.#batches.send();
    }
  }

  async #handle(op: ShardOp, signal: AbortSignal | undefined): Promise<unknown> {
    switch (op.type) {
      case "tell":
        return await this.#conversation(op.conversationId).opened.ref.tell(op.op as ConversationOp, op.id);
      case "room":
        this.#placed.get(op.conversationId)?.sink.setRoom(op.hasRoom);
        break;
      case "place":
        return await this.#place(op);
      case "release":
        await this.#release(op.conversationId);
        break;
      case "ask":
        return await this.#ask(op, signal);
      case "stats":
        return this.#stats();
      case "stop":
        await this.#stop();
        break;
    }
    return undefined;
  }

  async #ask({ conversationId, id, op }: Extract<ShardOp, { type: "ask" }>, signal?: AbortSignal): Promise<unknown> {
    const { opened, sink } = this.#conversation(conversationId);
    try {
      return await opened.ref.ask(op as ConversationOp, signal, id);
    } finally {
      sink.reportEnd();
    }
  }

  async #stop(): Promise<void> {
    await Promise.all([...this.#placed.keys()].map((id) => this.#release(id)));
    await this.#host.store.close();
    await this.#host.close();
  }

  async #place({ request, paths, slot }: Extract<ShardOp, { type: "place" }>): Promise<PlaceOutcome> {
    const { conversationId } = request;
    const sink = new ShardSink(conversationId, slot, this.#batches, this.#memory);
    try {
      for (const { path } of paths) await this.#host.store.adopt(path);
      const opened = await openConversation(this.#host, request, sink);
      if (opened === undefined) return { status: "codex_only" };
      sink.opened(() => opened.rolloutBytes());
      this.#placed.set(conversationId, { opened, sink });
      return { status: "placed", saved: opened.saved };
    } catch (error) {
      return { status: "failed", error: errorData(error) };
    }
  }

  async #release(conversationId: string): Promise<void> {
    const placed = this.#placed.get(conversationId);
    this.#placed.delete(conversationId);
    await placed?.opened.close();
  }

  #conversation(conversationId: string): Placed {
    const placed = this.#placed.get(conversationId);
    if (placed !== undefined) return placed;
    const message = `conversation ${conversationId} is not in this shard`;
    throw new FailureError({ code: "actor_stopped", message, retryable: false });
  }

  #stats(): ShardAnswers["stats"] {
    const { utilization, active } = performance.eventLoopUtilization();
    const { heapUsed } = process.memoryUsage();
    return { conversations: this.#placed.size, heapBytes: heapUsed, utilization, cpuMs: active };
  }
}

/** Sends what one conversation publishes to the main thread. */
class ShardSink implements EventSink {
  readonly #conversationId: string;
  readonly #unsent: Unsent;
  readonly #batches: EventBatches;
  readonly #memory: ShardMemory;
  #end: () => number = () => 0;
  /** The length of the rollout that the main thread knows. */
  #reportedEnd = 0;
  /** The last message, if it was a delta. */
  #last: { readonly id: string; readonly msg: DeltaMsg } | undefined;
  #room: Deferred<void> | undefined;

  constructor(conversationId: string, slot: number, batches: EventBatches, memory: ShardMemory) {
    this.#conversationId = conversationId;
    this.#unsent = { slot, texts: [], isActive: false, wasActive: false };
    this.#batches = batches;
    this.#memory = memory;
  }

  opened(rolloutEnd: () => number): void {
    this.#end = rolloutEnd;
  }

  publish(msg: ConversationMsg, id: string): void {
    this.#memory.running = this.#unsent.slot;
    const isDelta = isDeltaMsg(msg);
    if (isDelta && this.#continues(msg, id)) return this.#batches.addDelta(this.#unsent, msg.delta);
    this.#last = isDelta ? { id, msg } : undefined;
    this.#reportedEnd = this.#end();
    const conversationId = this.#conversationId;
    this.#batches.add({ type: "published", conversationId, id, msg, end: this.#reportedEnd }, this.#unsent);
  }

  /** Tells the main thread whether it must keep the process alive. */
  readonly active = (isActive: boolean): void => this.#batches.setActive(this.#unsent, isActive);

  /** Tells the main thread about lines that no event has followed, so that it waits for them before it reads the file. */
  reportEnd(): void {
    const end = this.#end();
    if (end <= this.#reportedEnd) return;
    this.#reportedEnd = end;
    this.#batches.add({ type: "recorded", conversationId: this.#conversationId, end }, this.#unsent);
  }

  /** Whether a delta differs from the last message only in its text. */
  #continues(msg: DeltaMsg, id: string): boolean {
    const last = this.#last;
    return last !== undefined && last.id === id && last.msg.type === msg.type && last.msg.item_id === msg.item_id;
  }

  room(): Promise<void> | undefined {
    return this.#room?.promise;
  }

  setRoom(hasRoom: boolean): void {
    if (hasRoom) {
      this.#room?.resolve();
      this.#room = undefined;
    } else if (this.#room === undefined) {
      this.#room = new Deferred<void>();
    }
  }

  /** The main thread notices the end of this thread itself. */
  lost(): void {}

  failed(): void {
    this.#batches.add({ type: "failed", conversationId: this.#conversationId }, this.#unsent);
  }
}
