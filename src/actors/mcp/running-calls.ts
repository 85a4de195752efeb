import { isRecord } from "../../base/is-record.js";
import { counted } from "../../base/text/counted.js";
import type { ElicitationAnswer, ElicitationRequest } from "../../messages/actors/mcp.js";

/** A server's question during a call, with the id for its answer. */
interface PendingElicitation extends ElicitationRequest {
  readonly id: number;
  readonly callId: string;
}

interface RunningCall {
  readonly deadline: CallDeadline;
  elicitations: number;
}

/** A server that asks more often than this during one call is cut off. */
const maxElicitations = 10;

/** The calls running on a server, and its questions during them. */
export class RunningCalls {
  readonly #ask: (elicitation: PendingElicitation) => void;
  readonly #calls = new Map<string, RunningCall>();
  readonly #elicitations = new Map<number, (answer: ElicitationAnswer) => void>();
  #elicitationCount = 0;

  constructor(ask: (elicitation: PendingElicitation) => void) {
    this.#ask = ask;
  }

  begin(callId: string, deadline: CallDeadline): void {
    this.#calls.set(callId, { deadline, elicitations: 0 });
  }

  end(callId: string): void {
    this.#calls.delete(callId);
  }

  /** Asks only when exactly one call is running: otherwise the wrong conversation might be asked. */
  async elicit({ message, schema }: ElicitationRequest): Promise<ElicitationAnswer> {
    const [only, ...others] = this.#calls;
    if (only === undefined || others.length > 0) return { action: "decline" };
    const [callId, call] = only;
    call.elicitations += 1;
    if (call.elicitations > maxElicitations) return { action: "cancel" };
    const id = (this.#elicitationCount += 1);
    const answer = new Promise<ElicitationAnswer>((resolve) => {
      this.#elicitations.set(id, resolve);
      call.deadline.signal.addEventListener("abort", () => resolve({ action: "cancel" }), { once: true });
    });
    this.#ask({ id, callId, message, schema });
    using _ = call.deadline.paused();
    return await answer.finally(() => this.#elicitations.delete(id));
  }

  answer(id: number, answer: ElicitationAnswer): void {
    this.#elicitations.get(id)?.(answer);
  }
}

/** Aborts when its time is over or another signal aborts; the time does not run while the user is being asked. */
export class CallDeadline {
  /** The deadline's length, in words. */
  readonly text: string;
  readonly signal: AbortSignal;
  readonly #timeout = new AbortController();
  #leftMs: number;
  #runningSince = 0;
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, signal: AbortSignal) {
    this.text = counted(ms / 1_000, "second");
    this.#leftMs = ms;
    this.signal = AbortSignal.any([signal, this.#timeout.signal]);
    this.#run();
  }

  /** Whether the time ran out. */
  get isOver(): boolean {
    return this.#timeout.signal.aborted;
  }

  /** Stops the clock until the returned object is disposed. */
  paused(): Disposable {
    this.#pauses += 1;
    if (this.#pauses === 1) {
      clearTimeout(this.#timer);
      this.#leftMs -= performance.now() - this.#runningSince;
    }
    return {
      [Symbol.dispose]: () => {
        this.#pauses -= 1;
        if (this.#pauses === 0) this.#run();
      },
    };
  }

  end(): void {
    this.#pauses += 1;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#runningSince = performance.now();
    this.#timer = setTimeout(() => this.#timeout.abort(new Error("timed out")), Math.max(0, this.#leftMs));
  }
}

type Value = string | number | boolean;

/**
 * Converts a yes into values: the default of each field, and `true` for a boolean field without one. Undefined when a
 * required field gets no value.
 */
export function defaultAnswers(schema: unknown): Record<string, Value> | undefined {
  const { properties, required } = Object(schema) as { readonly properties?: unknown; readonly required?: unknown };
  if (!isRecord(properties)) return {};
  const entries = Object.entries(properties).flatMap(([name, field]): [string, Value][] => {
    const { default: value, type } = Object(field) as { readonly default?: unknown; readonly type?: unknown };
    if (isValue(value)) return [[name, value]];
    return type === "boolean" ? [[name, true]] : [];
  });
  const values = Object.fromEntries(entries);
  const isComplete = !Array.isArray(required) || required.every((name) => Object.hasOwn(values, String(name)));
  return isComplete ? values : undefined;
}

function isValue(value: unknown): value is Value {
  return ["string", "number", "boolean"].includes(typeof value);
}
