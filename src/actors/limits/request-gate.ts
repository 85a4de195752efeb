import { type Failure, FailureError } from "../../messages/failure.js";
import type { RequestLimits } from "../../messages/config.js";
import type { Ref } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";
import { limits, type LimitsOp } from "./limits.js";

/** What a request says about itself. */
export interface GatedRequest {
  readonly provider: string;
  readonly conversationId: string;
  /** About how many tokens it will use; asked only where it matters. */
  tokens(): number;
}

/** A request's way past the limits: whoever entered leaves, whatever came of it. */
export interface Passage {
  leave(tokens: number | undefined): void;
}

/** As many as may wait at once: every conversation there is, several times over. */
const capacity = 100_000;
/** What a server that is busy asks of one request is asked of all, up to here. */
const maxHoldMs = 5 * 60_000;

/** Where requests wait for their turn. Those to a provider nothing is said about pass at once. */
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

  /** Undefined when the signal ended the wait. */
  async enter(request: GatedRequest, signal: AbortSignal): Promise<Passage | undefined> {
    const { provider, conversationId } = request;
    if (!this.isLimited(provider)) return open;
    const id = String((this.#requests += 1));
    const passage: Passage = {
      leave: (used) => void this.#ref.tell({ type: "leave", provider, id, tokens: used }).catch(ignored),
    };
    try {
      await this.#ref.ask({ type: "enter", provider, id, conversationId, tokens: request.tokens() }, signal);
      return passage;
    } catch (error) {
      passage.leave(undefined);
      if (signal.aborted) return undefined;
      // Who keeps order has failed: better without it than not at all.
      if (error instanceof FailureError) return open;
      throw error;
    }
  }

  /** A server that is busy and says for how long is left alone by everybody. */
  heard(provider: string, { code, retryAfterMs }: Failure): void {
    if (retryAfterMs === undefined || (code !== "rate_limit" && code !== "overloaded")) return;
    this.hold(provider, retryAfterMs);
  }

  hold(provider: string, ms: number): void {
    if (ms <= 0) return;
    this.#limited.add(provider);
    void this.#ref.tell({ type: "hold", provider, ms: Math.min(ms, maxHoldMs) }).catch(ignored);
  }

  stop(): Promise<void> {
    return this.#ref.stop();
  }
}

const open: Passage = { leave: () => undefined };

/** After the end nobody waits. */
function ignored(): void {}

function later(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
