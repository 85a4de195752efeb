import { getHeapStatistics } from "node:v8";
import type { ConversationChannel } from "./channel.js";

export const defaultIdleMs = 5 * 60_000;

/** How often idle conversations are looked for, at most. */
const maxCheckMs = 30_000;

/** Above this share of the heap's limit, conversations sleep much earlier. */
const tightHeap = 0.8;
const tightIdleMs = 5_000;

/** Finds conversations that have nothing to do, and lets them sleep. */
export class IdleConversations {
  readonly #idleMs: number;
  readonly #awake = new Set<ConversationChannel>();
  #timer: NodeJS.Timeout | undefined;

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /** Adds a conversation that was opened. */
  add(channel: ConversationChannel): void {
    this.#awake.add(channel);
    if (!Number.isFinite(this.#idleMs)) return;
    this.#timer ??= setInterval(() => this.#check(), Math.min(Math.max(this.#idleMs / 2, 10), maxCheckMs)).unref();
  }

  /** Removes a conversation that sleeps or has ended. */
  delete(channel: ConversationChannel): void {
    this.#awake.delete(channel);
    if (this.#awake.size === 0) this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    const idleMs = used > limit * tightHeap ? Math.min(tightIdleMs, this.#idleMs) : this.#idleMs;
    const before = performance.now() - idleMs;
    for (const channel of this.#awake) {
      if (channel.lastActiveAt <= before) void channel.sleep();
    }
  }
}
