import type { Failure } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Delivery } from "./thread-protocol.js";

/** A call on its way to a thread and back. */
export interface Call extends Delivery {
  resolve(value: unknown): void;
  reject(error: FailureError): void;
}

/** The calls of a reference that are not settled, in the order they were made. */
export class Calls {
  readonly #unsent = new Map<number, Call>();
  readonly #unaccepted = new Map<number, Call>();
  readonly #unanswered = new Map<number, Call>();

  get size(): number {
    return this.#unsent.size + this.#unaccepted.size + this.#unanswered.size;
  }

  get unaccepted(): number {
    return this.#unaccepted.size;
  }

  add(call: Call): void {
    this.#unsent.set(call.number, call);
  }

  has({ number }: Delivery): boolean {
    return this.#unsent.has(number) || this.#unaccepted.has(number) || this.#unanswered.has(number);
  }

  isUnsent(number: number): boolean {
    return this.#unsent.has(number);
  }

  /** Moves the oldest unsent calls to the unaccepted ones and returns their messages. */
  take(limit: number): Delivery[] {
    const batch: Delivery[] = [];
    for (const call of this.#unsent.values()) {
      if (batch.length >= limit) break;
      this.#unsent.delete(call.number);
      this.#unaccepted.set(call.number, call);
      batch.push({ number: call.number, op: call.op, kind: call.kind });
    }
    return batch;
  }

  /** A mailbox accepts in order, so one number covers all calls before it. */
  accepted(through: number): void {
    for (const call of this.#unaccepted.values()) {
      if (call.number > through) return;
      this.#unaccepted.delete(call.number);
      if (call.kind === "tell") call.resolve(String(call.number));
      else this.#unanswered.set(call.number, call);
    }
  }

  answered(number: number, answer: unknown): void {
    this.#settle(number)?.resolve(answer);
  }

  refused(number: number, failure: Failure, cause?: unknown): void {
    this.#settle(number)?.reject(new FailureError(failure, { cause }));
  }

  refuseUnsent(failure: Failure): void {
    for (const number of this.#unsent.keys()) this.refused(number, failure);
  }

  refuseAll(failure: Failure): void {
    for (const calls of [this.#unanswered, this.#unaccepted, this.#unsent]) {
      for (const number of calls.keys()) this.refused(number, failure);
    }
  }

  #settle(number: number): Call | undefined {
    for (const calls of [this.#unanswered, this.#unaccepted, this.#unsent]) {
      const call = calls.get(number);
      if (call !== undefined) {
        calls.delete(number);
        return call;
      }
    }
    return undefined;
  }
}
