import type { RequestLimits } from "../../messages/config.js";

const minuteMs = 60_000;

/** A request that waits to be sent. */
export interface QueuedRequest {
  readonly id: string;
  readonly conversationId: string;
  /** The estimated number of tokens it will use. */
  readonly tokens: number;
  readonly enter: () => void;
}

export interface RequestQueueParts {
  readonly limits: RequestLimits;
  /** A monotonic clock. */
  now(): number;
  /** Calls back after `ms` milliseconds unless the returned function is called first. */
  later(ms: number, callback: () => void): () => void;
}

/** The queue of requests to one provider. Conversations take turns, so none waits behind all requests of another. */
export class RequestQueue {
  readonly #parts: RequestQueueParts;
  readonly #waiting = new Map<string, QueuedRequest[]>();
  readonly #running = new Map<string, number>();
  readonly #requests: Bucket | undefined;
  readonly #tokens: Bucket | undefined;
  #heldUntil = 0;
  #forget: (() => void) | undefined;

  constructor(parts: RequestQueueParts) {
    const { requestsPerMinute, tokensPerMinute } = parts.limits;
    this.#parts = parts;
    if (requestsPerMinute !== undefined) this.#requests = new Bucket(requestsPerMinute, parts.now());
    if (tokensPerMinute !== undefined) this.#tokens = new Bucket(tokensPerMinute, parts.now());
  }

  add(waiting: QueuedRequest): void {
    const others = this.#waiting.get(waiting.conversationId);
    if (others === undefined) this.#waiting.set(waiting.conversationId, [waiting]);
    else others.push(waiting);
    this.#admit();
  }

  /** Removes a request that has ended or was cancelled; `tokens` is its actual usage, where known. */
  leave(id: string, tokens: number | undefined): void {
    const estimated = this.#running.get(id);
    if (estimated === undefined) this.#forgetWaiting(id);
    else if (tokens !== undefined) this.#tokens?.take(tokens - estimated, this.#parts.now());
    this.#running.delete(id);
    this.#admit();
  }

  /** Admits no request for `ms` milliseconds. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#parts.now() + ms);
  }

  close(): void {
    this.#forget?.();
    this.#waiting.clear();
  }

  #admit(): void {
    this.#forget?.();
    this.#forget = undefined;
    for (let next = this.#first(); next !== undefined; next = this.#first()) {
      const waitMs = this.#waitMs(next);
      if (waitMs === undefined) return;
      if (waitMs > 0) {
        this.#forget = this.#parts.later(waitMs, () => this.#admit());
        return;
      }
      this.#enter(next);
    }
  }

  /** Milliseconds until a request may be sent; undefined when a running request must end first. */
  #waitMs({ tokens }: QueuedRequest): number | undefined {
    if (this.#running.size >= (this.#parts.limits.concurrency ?? Number.POSITIVE_INFINITY)) return undefined;
    const now = this.#parts.now();
    const rates = [this.#requests?.waitMs(1, now) ?? 0, this.#tokens?.waitMs(tokens, now) ?? 0];
    return Math.max(0, this.#heldUntil - now, ...rates);
  }

  #enter(waiting: QueuedRequest): void {
    const { id, conversationId, tokens, enter } = waiting;
    const now = this.#parts.now();
    this.#requests?.take(1, now);
    this.#tokens?.take(tokens, now);
    this.#running.set(id, tokens);
    const others = (this.#waiting.get(conversationId) ?? []).slice(1);
    // Re-inserting the conversation moves it to the end of the queue.
    this.#waiting.delete(conversationId);
    if (others.length > 0) this.#waiting.set(conversationId, others);
    enter();
  }

  #first(): QueuedRequest | undefined {
    for (const [first] of this.#waiting.values()) return first;
    return undefined;
  }

  #forgetWaiting(id: string): void {
    for (const [conversationId, waiting] of this.#waiting) {
      const others = waiting.filter((each) => each.id !== id);
      if (others.length === waiting.length) continue;
      if (others.length === 0) this.#waiting.delete(conversationId);
      else this.#waiting.set(conversationId, others);
      return;
    }
  }
}

/** A token bucket that refills continuously and holds at most one minute's worth. */
class Bucket {
  readonly #perMinute: number;
  #left: number;
  #at: number;

  constructor(perMinute: number, nowMs: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#at = nowMs;
  }

  /** Milliseconds until `amount` is available. An amount above the bucket's size needs a full bucket. */
  waitMs(amount: number, nowMs: number): number {
    this.#fill(nowMs);
    const missing = Math.min(amount, this.#perMinute) - this.#left;
    return missing <= 0 ? 0 : Math.ceil((missing * minuteMs) / this.#perMinute);
  }

  /** May take more than is left; later requests then wait for the debt. A negative amount is refunded. */
  take(amount: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#left = Math.min(this.#perMinute, this.#left - amount);
  }

  /** A clock that jumps back adds nothing. */
  #fill(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#at) * this.#perMinute) / minuteMs;
    this.#left = Math.min(this.#perMinute, this.#left + gained);
    this.#at = nowMs;
  }
}
