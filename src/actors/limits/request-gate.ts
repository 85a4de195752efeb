import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import type { RequestLimits } from "../../messages/config.js";
import type { Ref } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";
import { limits, type LimitsOp } from "./limits.js";

/** A request that has to pass the limits of its provider. */
export interface LimitedRequest {
  readonly provider: string;
  readonly conversationId: string;
  /** Estimates how many tokens the request will use; called only when the provider is limited. */
  tokens(): number;
}

/** Permission to send one request. The holder must call `leave` once, whether the request succeeded or failed. */
export interface RequestPermit {
  leave(tokens: number | undefined): void;
}

/** Mailbox capacity of the limits actor: far more than the number of conversations that can wait at once. */
const capacity = 100_000;
/** Upper bound for the pause that a busy server can impose on all requests to its provider. */
const maxHoldMs = 5 * 60_000;

/** Makes requests wait until their provider's limits allow them. Providers without limits are never delayed. */
export class RequestGate {
  readonly #ref: Ref<LimitsOp, Record<never, never>>;
  readonly #limited: Set<string>;
  #requests = 0;

  constructor(configured: Readonly<Record<string, RequestLimits>>) {
    this.#limited = new Set(Object.keys(configured));
    const options = { limits: configured, now: () => performance.now(), later };
    this.#ref = spawn(limits, options, { capacity });
  }

  /** Whether requests to a provider may have to wait. */
  isLimited(provider: string): boolean {
    return this.#limited.has(provider);
  }

  /** Returns undefined when the signal aborted the wait. */
  async enter(request: LimitedRequest, signal: AbortSignal): Promise<RequestPermit | undefined> {
    const { provider, conversationId } = request;
    if (!this.isLimited(provider)) return unlimitedPermit;
    const id = String((this.#requests += 1));
    const passage: RequestPermit = {
      leave: (used) => void this.#ref.tell({ type: "leave", provider, id, tokens: used }).catch(ignoreError),
    };
    try {
      await this.#ref.ask({ type: "enter", provider, id, conversationId, tokens: request.tokens() }, signal);
      return passage;
    } catch (error) {
      passage.leave(undefined);
      if (signal.aborted) return undefined;
      // The limits actor has failed. Sending without limits is better than not sending at all.
      if (error instanceof FailureError) return unlimitedPermit;
      throw error;
    }
  }

  /** Pauses all requests to a provider when its server reports that it is busy and for how long. */
  heard(provider: string, { code, retryAfterMs }: Failure): void {
    if (retryAfterMs === undefined || (code !== "rate_limit" && code !== "overloaded")) return;
    this.hold(provider, retryAfterMs);
  }

  hold(provider: string, ms: number): void {
    if (ms <= 0) return;
    this.#limited.add(provider);
    void this.#ref.tell({ type: "hold", provider, ms: Math.min(ms, maxHoldMs) }).catch(ignoreError);
  }

  stop(): Promise<void> {
    return this.#ref.stop();
  }
}

const unlimitedPermit: RequestPermit = { leave: () => undefined };

/** Errors after the actor has stopped do not matter: no request waits any more. */
function ignoreError(): void {}

function later(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
