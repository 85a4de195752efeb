import type {
  RolloutWriterAnswers,
  RolloutWriterOp,
  RolloutWriterEvent,
  LockOwner,
  OpenOutcome,
} from "../../messages/rollout-writer.js";
import { lockHolder, releaseLock, removeLeftLock } from "../../rollouts/file/lock.js";
import { runtimeDirectory } from "../../rollouts/file/runtime-directory.js";
import { entryUrl } from "../../workers/entry-url.js";
import type { SpawnOptions } from "../runtime/actor.js";
import { spawnThread } from "../runtime/spawn-thread.js";
import { OutboxRollout, type OpenRequest, type Outgoing, type RolloutWriterRef, type Rollout } from "./rollout.js";
import { openOwnerSocket, type OwnerSocket, closedOwners } from "./rollout-locks.js";

const defaultLimitBytes = 64 * 1024 * 1024;

const defaultDeadlineMs = 10_000;

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

/** The writer's data is short-lived; with the default size its garbage alone would take a third of our memory. */
const maxYoungGenerationSizeMb = 4;

/** Creates an outbox whose writer has its own thread. Thread and socket exist from the first open until `stop`. */
export function openOutbox(env: Readonly<Record<string, string | undefined>>): RolloutOutbox {
  let socket: Promise<OwnerSocket> | undefined;
  return new RolloutOutbox({
    spawnWriter: (spawnOptions) =>
      spawnThread<RolloutWriterOp, RolloutWriterAnswers, null, RolloutWriterEvent>(entryUrl("rollout-writer"), null, {
        ...spawnOptions,
        resourceLimits: { maxYoungGenerationSizeMb },
      }),
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
  readonly spawnWriter: (spawnOptions: SpawnOptions<RolloutWriterEvent>) => RolloutWriterRef;
  /** Called once, before the first rollout is opened. */
  readonly owner: () => Promise<LockOwner>;
  /** When this many bytes wait, over all conversations, no new turn should begin. */
  readonly limitBytes?: number;
  readonly deadlineMs?: number;
  /** Called when the writer has ended and no lock is held any more. */
  readonly onStopped?: () => Promise<void>;
}

/**
 * Keeps every line until the writer has reported it as durable, so that a new writer thread can be given the lines that
 * the old one had not written.
 */
export class RolloutOutbox implements Outgoing {
  readonly #options: RolloutOutboxOptions;
  readonly #rollouts = new Map<string, OutboxRollout>();
  /** Rollouts closed without the writer's answer; their locks may still exist. */
  readonly #maybeLocked = new Set<string>();
  readonly #limitBytes: number;
  readonly deadlineMs: number;
  #writer: RolloutWriterRef | undefined;
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
    this.writer();
    this.owner().catch(() => undefined);
  }

  /** The first call starts the writer's thread. Never rejects: the outcome reports problems. */
  async open(request: OpenRequest): Promise<{ outcome: OpenOutcome; rollout: Rollout }> {
    const { conversationId } = request;
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
    const outcome = await rollout.open();
    if (outcome.status !== "in_use") return { outcome, rollout };
    this.forget(rollout);
    return { outcome, rollout: unsavedRollout };
  }

  /** Returns the other process that is writing a rollout, if any. */
  async holder(path: string): Promise<string | undefined> {
    return await lockHolder(path, await this.owner());
  }

  /** Saves waiting lines, closes every rollout and ends the writer. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#rollouts.values(), (rollout) => rollout.close()));
    this.#failed("the writer was stopped");
    await this.#writer?.stop();
    await this.#releaseLocks();
    await this.#options.onStopped?.();
  }

  get full(): boolean {
    return this.#waitingBytes > this.#limitBytes;
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

  writer(): RolloutWriterRef {
    this.#writer ??= this.#options.spawnWriter({
      onEvent: ({ msg }) => this.#onEvent(msg),
      onRestart: () => this.#onRestarted(),
      onFailed: ({ message }) => this.#failed(message),
    });
    return this.#writer;
  }

  count(bytes: number): void {
    this.#waitingBytes += bytes;
  }

  closedUnanswered(path: string): void {
    this.#maybeLocked.add(path);
  }

  forget(rollout: OutboxRollout): void {
    if (this.#rollouts.get(rollout.conversationId) === rollout) this.#rollouts.delete(rollout.conversationId);
  }

  /** Without this, no other process could take these locks while this process runs. */
  async #releaseLocks(): Promise<void> {
    if (this.#maybeLocked.size === 0) return;
    const owner = await this.#owner?.catch(() => undefined);
    if (owner === undefined) return;
    for (const path of this.#maybeLocked) await releaseLock(path, owner).catch(() => undefined);
    this.#maybeLocked.clear();
  }

  #onEvent(event: RolloutWriterEvent): void {
    const rollout = this.#rollouts.get(event.conversationId);
    if (event.type === "saved") rollout?.saved(event.bytes, event.lines);
    else rollout?.notSaved(event.reason);
  }

  #onRestarted(): void {
    for (const rollout of this.#rollouts.values()) rollout.sendAgain();
  }

  #failed(message: string): void {
    this.#failure = message;
    for (const rollout of this.#rollouts.values()) rollout.giveUp(message);
  }
}
