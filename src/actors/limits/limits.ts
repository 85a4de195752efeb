import type { LimitsAnswers, LimitsEvent, LimitsOp } from "../../messages/actors/limits.js";
import type { RequestLimits } from "../../messages/settings/config.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure } from "../../messages/failure.js";
import type { Actor, Ref } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";

/** Mailbox capacity of the limits actor: far more than the number of conversations that can wait at once. */
const capacity = 100_000;

/** Upper bound for the pause that a busy server can impose on all requests to its provider. */
const maxHoldMs = 5 * 60_000;

const unlimitedPermit: RequestPermit = { release: () => undefined };

const minuteMs = 60_000;

interface LimitsOptions extends Pick<RequestQueueParts, "now" | "later"> {
  /** The configured request limits, by provider. */
  readonly limits: Readonly<Record<string, RequestLimits>>;
}

/** Keeps the requests of all conversations within the limits of their providers. */
const limits: Actor<LimitsOp, LimitsAnswers, LimitsOptions, LimitsEvent> = {
  name: "limits",
  start: ({ limits: configured, now, later: startTimer }, { publish }) => {
    const queues = new Map<string, RequestQueue>();
    const limited = new Set(Object.keys(configured));

    function queueOf(provider: string): RequestQueue {
      const known =
        queues.get(provider) ?? new RequestQueue({ limits: configured[provider] ?? {}, now, later: startTimer });
      queues.set(provider, known);
      return known;
    }

    return {
      enter: ({ provider, ...waiting }, signal) =>
        new Promise((resolve) => {
          // Otherwise stopping the actor would wait for a request that has left the queue.
          signal.addEventListener("abort", () => resolve(), { once: true });
          queueOf(provider).add({ ...waiting, enter: () => resolve() });
        }),
      leave: ({ provider, id, tokens }) => queueOf(provider).leave(id, tokens),
      hold: ({ provider, ms }) => {
        queueOf(provider).hold(ms);
        if (limited.has(provider)) return;
        limited.add(provider);
        publish({ type: "limited", provider });
      },
      client_gone: ({ client }) => {
        for (const queue of queues.values()) queue.leaveAll(client);
      },
      [Symbol.asyncDispose]: async () => {
        for (const queue of queues.values()) queue.close();
      },
    };
  },
};

/** Starts the limits actor. `onEvent` has to reach every `RequestGate`. */
export function startLimits(
  configured: Readonly<Record<string, RequestLimits>>,
  onEvent: (event: LimitsEvent) => void,
): Ref<LimitsOp, LimitsAnswers> {
  const options = { limits: configured, now: () => performance.now(), later: callLater };
  return spawn(limits, options, { capacity, onEvent: ({ msg }) => onEvent(msg) });
}

/** A request that waits to be sent. */
interface QueuedRequest {
  readonly id: string;
  readonly client: string;
  readonly conversationId: string;
  /** The estimated number of tokens it will use. */
  readonly tokens: number;
  readonly enter: () => void;
}

interface RequestQueueParts {
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
  readonly #running = new Map<string, Omit<QueuedRequest, "enter">>();
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
    const running = this.#running.get(id);
    if (running === undefined) this.#forgetWaiting(id);
    else if (tokens !== undefined) this.#tokens?.take(tokens - running.tokens, this.#parts.now());
    this.#running.delete(id);
    this.#admit();
  }

  /** Removes all requests of a client. */
  leaveAll(client: string): void {
    const requests = [...this.#running.values(), ...[...this.#waiting.values()].flat()];
    for (const request of requests.filter((each) => each.client === client)) {
      if (!this.#running.delete(request.id)) this.#forgetWaiting(request.id);
    }
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
    const { enter, ...running } = waiting;
    const { id, conversationId, tokens } = running;
    const now = this.#parts.now();
    this.#requests?.take(1, now);
    this.#tokens?.take(tokens, now);
    this.#running.set(id, running);
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

/** A request that has to pass the limits of its provider. */
interface LimitedRequest {
  readonly provider: string;
  readonly conversationId: string;
  /** Estimates how many tokens the request will use; called only when the provider is limited. */
  tokens(): number;
}

/** Permission to send one request. The holder must call `release` once, whether the request succeeded or failed. */
export interface RequestPermit {
  release(tokens: number | undefined): void;
}

interface RequestGateOptions {
  /** The name of the thread that the gate is in. It may be used again after `client_gone`. */
  readonly client: string;
  /** The providers whose requests have to enter. */
  readonly limited: Iterable<string>;
}

/** Makes requests wait until their provider's limits allow them. Providers without limits are never delayed. */
export class RequestGate {
  readonly #ref: Ref<LimitsOp, LimitsAnswers>;
  readonly #client: string;
  readonly #limited: Set<string>;
  #requests = 0;

  constructor(ref: Ref<LimitsOp, LimitsAnswers>, { client, limited }: RequestGateOptions) {
    this.#ref = ref;
    this.#client = client;
    this.#limited = new Set(limited);
  }

  /** The providers whose requests have to enter, for the gate of a new thread. */
  get limited(): readonly string[] {
    return [...this.#limited];
  }

  /** Receives the events of the limits actor. */
  receive({ provider }: LimitsEvent): void {
    this.#limited.add(provider);
  }

  /** Whether requests to a provider may have to wait. */
  isLimited(provider: string): boolean {
    return this.#limited.has(provider);
  }

  /** Returns undefined when the signal aborted the wait. */
  async enter(request: LimitedRequest, signal: AbortSignal): Promise<RequestPermit | undefined> {
    const { provider, conversationId } = request;
    if (!this.isLimited(provider)) return unlimitedPermit;
    const client = this.#client;
    const id = `${client}:${(this.#requests += 1)}`;
    const permit: RequestPermit = {
      release: (used) => void this.#ref.tell({ type: "leave", provider, id, tokens: used }).catch(ignoreError),
    };
    try {
      await this.#ref.ask({ type: "enter", provider, client, id, conversationId, tokens: request.tokens() }, signal);
      return permit;
    } catch (error) {
      permit.release(undefined);
      if (signal.aborted) return undefined;
      // The limits actor has failed. Sending without limits is better than not sending at all.
      if (error instanceof FailureError) return unlimitedPermit;
      throw error;
    }
  }

  /** Pauses all requests to a provider when its server reports that it is busy and for how long. */
  noteFailure(provider: string, { code, retryAfterMs }: Failure): void {
    if (retryAfterMs === undefined || (code !== "rate_limit" && code !== "overloaded")) return;
    this.hold(provider, retryAfterMs);
  }

  hold(provider: string, ms: number): void {
    if (ms <= 0) return;
    this.#limited.add(provider);
    void this.#ref.tell({ type: "hold", provider, ms: Math.min(ms, maxHoldMs) }).catch(ignoreError);
  }
}

/** Errors after the actor has stopped do not matter: no request waits any more. */
function ignoreError(): void {}

function callLater(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
