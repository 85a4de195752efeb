import type { MessagePort } from "node:worker_threads";
import * as Comlink from "comlink";
import type {
  LockOwner,
  OpenOutcome,
  RolloutWriterAnswer,
  RolloutWriterAnswers,
  RolloutWriterEvent,
  RolloutWriterOp,
  RolloutWriterReport,
  RolloutWriterSubmission,
} from "../../messages/actors/rollout-writer.js";
import { lockHolder, releaseLock, removeLeftLock } from "../../rollouts/file/lock.js";
import { runtimeDirectory } from "../../rollouts/file/runtime-directory.js";
import { entryUrl } from "../../workers/entry-url.js";
import { comlinkEndpoint } from "../runtime/comlink-endpoint.js";
import { OutboxRollout, type OpenRequest, type Outgoing, type Rollout } from "./rollout.js";
import { openOwnerSocket, type OwnerSocket, closedOwners } from "./rollout-locks.js";
import type { WriterRemote } from "./serve-writer.js";
import { type WriterListener, type WriterSource, WriterThread } from "./writer-thread.js";

const defaultLimitBytes = 64 * 1024 * 1024;

const defaultDeadlineMs = 10_000;

/** Maximum number of ops in one message. */
const opsPerMessage = 256;

/** A rollout for conversations that are not saved. */
export const unsavedRollout: Rollout = {
  path: null,
  full: false,
  bytes: 0,
  append: () => {},
  takeRedacted: () => 0,
  flush: async () => ({ status: "off" }),
  close: async () => ({ status: "off" }),
};

/** Creates an outbox whose writer has its own thread. Thread and socket exist from the first open until `stop`. */
export function openOutbox(env: Readonly<Record<string, string | undefined>>): RolloutOutbox {
  let socket: Promise<OwnerSocket> | undefined;
  return new RolloutOutbox({
    writer: new WriterThread(() => entryUrl("rollout-writer")),
    owner: async () => {
      socket = runtimeDirectory(env).then(openOwnerSocket);
      return (await socket).owner;
    },
    onStopped: async () => {
      const opened = await socket?.catch(() => undefined);
      await opened?.close();
    },
  });
}

export interface RolloutOutboxOptions {
  readonly writer: WriterSource;
  /** Called once, before the first rollout is opened. */
  readonly owner: () => Promise<LockOwner>;
  /** When this many bytes wait, over all conversations, no new turn should begin. */
  readonly limitBytes?: number;
  readonly deadlineMs?: number;
  /** Called when the writer has ended and no lock is held any more. */
  readonly onStopped?: () => Promise<void>;
}

/**
 * The client of the writer, in the main thread and in every shard. It keeps every line until the writer has reported it
 * as durable, so that a new writer thread can be given the lines that the old one had not written.
 */
export class RolloutOutbox implements Outgoing {
  readonly #options: RolloutOutboxOptions;
  readonly #rollouts = new Map<string, OutboxRollout>();
  /** The conversations closed without the writer's answer, and their paths; the locks may still exist. */
  readonly #maybeLocked = new Map<string, string>();
  readonly #limitBytes: number;
  readonly deadlineMs: number;
  /** Rollouts with something to append. */
  readonly #unsent = new Set<OutboxRollout>();
  #connection: Connection | undefined;
  #disconnect: (() => void) | undefined;
  #owner: Promise<LockOwner> | undefined;
  #waitingBytes = 0;
  #failure: string | undefined;

  constructor(options: RolloutOutboxOptions) {
    this.#options = options;
    this.#limitBytes = options.limitBytes ?? defaultLimitBytes;
    this.deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
  }

  /** Starts the writer early, for a caller that will open a rollout soon and has other things to load. */
  start(): void {
    this.#connect();
    this.owner().catch(() => undefined);
  }

  /**
   * Connects a client in another thread: its listener gets a port now, and another one whenever the writer's thread is
   * replaced. Call the returned function when that thread has ended.
   */
  connect(listener: WriterListener): () => void {
    return this.#options.writer.connect(listener);
  }

  /**
   * The first call starts the writer's thread. The outcome reports problems; it rejects only when the request itself
   * cannot be sent to another thread, which is a bug of the caller.
   */
  async open(request: OpenRequest): Promise<{ outcome: OpenOutcome; rollout: Rollout }> {
    const { conversationId, path, mode, force } = request;
    structuredClone({ conversationId, path, mode, force });
    if (this.#failure !== undefined) {
      return { outcome: { status: "not_saved", reason: this.#failure }, rollout: new OutboxRollout(this, request) };
    }
    if (this.#rollouts.has(conversationId)) {
      return { outcome: { status: "in_use", owner: `this process (pid ${process.pid})` }, rollout: unsavedRollout };
    }
    const opened = await this.#tryOpen(request);
    if (opened.outcome.status !== "in_use") return opened;
    const isFree = await removeLeftLock(request.path, closedOwners).catch(() => false);
    return isFree ? await this.#tryOpen(request) : opened;
  }

  async #tryOpen(request: OpenRequest): Promise<{ outcome: OpenOutcome; rollout: Rollout }> {
    const rollout = new OutboxRollout(this, request);
    this.#rollouts.set(request.conversationId, rollout);
    this.#connect();
    const outcome = await rollout.open();
    if (outcome.status !== "in_use") return { outcome, rollout };
    this.forget(rollout);
    return { outcome, rollout: unsavedRollout };
  }

  /** Returns the other process that is writing a rollout, if any. */
  async holder(path: string): Promise<string | undefined> {
    return await lockHolder(path, await this.owner());
  }

  /** Saves waiting lines, closes every rollout and ends the writer, if this client owns it. */
  async stop(): Promise<void> {
    const { writer } = this.#options;
    await Promise.all(Array.from(this.#rollouts.values(), (rollout) => rollout.close()));
    this.#failed("the writer was stopped");
    this.#disconnect?.();
    await writer.stop?.();
    this.#connection?.close();
    // While the writer runs, another client may have one of these conversations open.
    if (writer.stop !== undefined) await this.#releaseLocks();
    await this.#options.onStopped?.();
  }

  get full(): boolean {
    return this.#waitingBytes > this.#limitBytes;
  }

  get isConnected(): boolean {
    return this.#connection?.isOpen ?? false;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  owner(): Promise<LockOwner> {
    this.#owner ??= this.#options.owner().catch((error: unknown) => {
      // The failure is not cached, because the directory may be repaired later.
      this.#owner = undefined;
      throw error;
    });
    return this.#owner;
  }

  /** Resolves to undefined when the writer has not answered before its thread ended, or cannot be reached now. */
  async ask<T extends keyof RolloutWriterAnswers>(
    op: Extract<RolloutWriterOp, { type: T }>,
  ): Promise<RolloutWriterAnswers[T] | undefined> {
    return (await this.#connection?.ask(op)) as RolloutWriterAnswers[T] | undefined;
  }

  send(rollout: OutboxRollout): void {
    this.#unsent.add(rollout);
    this.#connection?.wake();
  }

  count(bytes: number): void {
    this.#waitingBytes += bytes;
  }

  closedUnanswered(conversationId: string, path: string): void {
    this.#maybeLocked.set(conversationId, path);
    void this.#closeAgain(conversationId, path);
  }

  forget(rollout: OutboxRollout): void {
    if (this.#rollouts.get(rollout.conversationId) === rollout) this.#rollouts.delete(rollout.conversationId);
  }

  /** A writer that died may have left this lock, which the next one takes and releases. */
  async #closeAgain(conversationId: string, path: string): Promise<void> {
    const owner = await this.owner().catch(() => undefined);
    if (owner === undefined || this.#rollouts.has(conversationId)) return;
    // Sent together, so that the conversation can be opened again only after both.
    void this.ask({ type: "open", conversationId, path, owner, mode: "append" });
    const outcome = await this.ask({ type: "close", conversationId });
    if (outcome !== undefined) this.#maybeLocked.delete(conversationId);
  }

  /** Without this, no other process could take these locks while this process runs. */
  async #releaseLocks(): Promise<void> {
    if (this.#maybeLocked.size === 0) return;
    const owner = await this.#owner?.catch(() => undefined);
    if (owner === undefined) return;
    for (const path of this.#maybeLocked.values()) await releaseLock(path, owner).catch(() => undefined);
    this.#maybeLocked.clear();
  }

  #connect(): void {
    this.#disconnect ??= this.#options.writer.connect({
      onPort: (port) => this.#onPort(port),
      onFailed: (reason) => this.#failed(reason),
    });
  }

  /** A new writer knows nothing, so every rollout is opened again and sends what is not durable. */
  #onPort(port: MessagePort): void {
    this.#connection?.close();
    this.#connection = new Connection(port, {
      takeAppends: (limit) => this.#takeAppends(limit),
      onEvent: (event) => this.#onEvent(event),
    });
    for (const rollout of this.#rollouts.values()) rollout.reopen();
    for (const [conversationId, path] of this.#maybeLocked) void this.#closeAgain(conversationId, path);
  }

  /** The next append of each rollout that has one, with everything that has gathered in it. */
  #takeAppends(limit: number): RolloutWriterOp[] {
    const ops: RolloutWriterOp[] = [];
    for (const rollout of this.#unsent) {
      if (ops.length >= limit) break;
      this.#unsent.delete(rollout);
      const op = rollout.takeAppend();
      if (op !== undefined) ops.push(op);
    }
    return ops;
  }

  #onEvent(event: RolloutWriterEvent): void {
    const rollout = this.#rollouts.get(event.conversationId);
    if (event.type === "saved") rollout?.saved(event.bytes, event.lines);
    else rollout?.notSaved(event.reason);
  }

  #failed(message: string): void {
    this.#failure ??= message;
    for (const rollout of this.#rollouts.values()) rollout.giveUp(message);
  }
}

interface ConnectionOptions {
  readonly takeAppends: (limit: number) => RolloutWriterOp[];
  readonly onEvent: (event: RolloutWriterEvent) => void;
}

interface Ask {
  readonly op: RolloutWriterOp;
  readonly resolve: (answer: RolloutWriterAnswer | undefined) => void;
}

/** The client's end of a port to one writer thread. One message is on its way at a time; what comes meanwhile waits. */
class Connection {
  readonly #port: MessagePort;
  readonly #options: ConnectionOptions;
  readonly #remote: Comlink.Remote<WriterRemote>;
  #unsent: Ask[] = [];
  readonly #unanswered = new Map<number, Ask>();
  #submissions = 0;
  #isSending = false;
  #isClosed = false;

  constructor(port: MessagePort, options: ConnectionOptions) {
    this.#port = port;
    this.#options = options;
    this.#remote = Comlink.wrap<WriterRemote>(comlinkEndpoint(port));
    port.on("message", (message: unknown) => {
      // Comlink's own messages are objects.
      if (Array.isArray(message)) for (const report of message as RolloutWriterReport[]) this.#receive(report);
    });
    port.on("close", () => this.close());
    port.unref();
    this.wake();
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  ask(op: RolloutWriterOp): Promise<RolloutWriterAnswer | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#unsent.push({ op, resolve });
      this.wake();
    });
  }

  /** Sends what waits, in a microtask, so that everything of this microtask goes together. */
  wake(): void {
    if (this.#isSending || this.#isClosed) return;
    this.#isSending = true;
    // While something is on its way, the port keeps the process alive.
    this.#port.ref();
    queueMicrotask(() => void this.#sendAll());
  }

  close(): void {
    this.#isClosed = true;
    this.#port.close();
    for (const { resolve } of [...this.#unsent, ...this.#unanswered.values()]) resolve(undefined);
    this.#unsent = [];
    this.#unanswered.clear();
  }

  async #sendAll(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) await this.#remote.submit(batch);
    this.#isSending = false;
    this.#release();
  }

  /** Appends come first, because a flush covers the lines appended before it. */
  #take(): RolloutWriterSubmission[] {
    if (this.#isClosed) return [];
    const batch = this.#options.takeAppends(opsPerMessage).map((op) => ({ id: this.#nextId(), op }));
    for (const ask of this.#unsent.splice(0, opsPerMessage - batch.length)) {
      const id = this.#nextId();
      this.#unanswered.set(id, ask);
      batch.push({ id, op: ask.op });
    }
    return batch;
  }

  #nextId(): number {
    return (this.#submissions += 1);
  }

  #receive(report: RolloutWriterReport): void {
    if (this.#isClosed) return;
    if (report.type === "event") return this.#options.onEvent(report.event);
    this.#unanswered.get(report.id)?.resolve(report.answer);
    this.#unanswered.delete(report.id);
    this.#release();
  }

  #release(): void {
    if (!this.#isSending && this.#unanswered.size === 0) this.#port.unref();
  }
}
