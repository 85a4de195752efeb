import type { MessagePort } from "node:worker_threads";
import * as Comlink from "comlink";
import { errorMessage } from "../../base/error-message.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure } from "../../messages/failure.js";
import type { AnswerOf, Answers, Message, Ref } from "./actor.js";
import { comlinkEndpoint } from "./comlink-endpoint.js";
import { makeFailure, toFailure } from "./failures.js";
import { onAborted } from "./spawn.js";

/** The functions that `portRef` calls through Comlink. Outcomes cross as data, because errors lose their fields. */
interface RefRemote {
  tell(op: Message, id: string | undefined): Promise<Outcome>;
  ask(call: number, op: Message, id: string | undefined): Promise<Outcome>;
  /** Aborts the signal of an ask. */
  cancel(call: number): void;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: Failure };

const neverAborted = new AbortController().signal;

/** An actor, or an object that handles messages like one. */
interface Served {
  tell(op: never, id?: string): Promise<unknown>;
  ask(op: never, signal?: AbortSignal, id?: string): Promise<unknown>;
}

/** Makes an actor of this thread reachable through a port. When the port closes, the running asks are aborted. */
export function serveRef(ref: Served, port: MessagePort): void {
  const running = new Map<number, AbortController>();
  const remote: RefRemote = {
    tell: (op, id) => outcomeOf(ref.tell(op as never, id), neverAborted),
    ask: async (call, op, id) => {
      const controller = new AbortController();
      running.set(call, controller);
      try {
        return await outcomeOf(ref.ask(op as never, controller.signal, id), controller.signal);
      } finally {
        running.delete(call);
      }
    },
    cancel: (call) => running.get(call)?.abort(),
  };
  Comlink.expose(remote, comlinkEndpoint(port));
  port.on("close", () => {
    for (const controller of running.values()) controller.abort();
  });
}

async function outcomeOf(answer: Promise<unknown>, signal: AbortSignal): Promise<Outcome> {
  try {
    return { ok: true, value: await answer };
  } catch (error) {
    return { ok: false, failure: toFailure(error, signal) };
  }
}

/** The reference to an actor of another thread, which serves it on the other end of the port. */
export function portRef<Op extends Message, A extends Answers<Op>>(port: MessagePort, name: string): Ref<Op, A> {
  const remote = Comlink.wrap<RefRemote>(comlinkEndpoint(port));
  const closed = makeFailure("thread_died", `${name}: its thread has ended`, true);
  const pending = new Set<(error: FailureError) => void>();
  let isClosed = false;
  let calls = 0;
  port.on("close", () => {
    isClosed = true;
    for (const reject of pending) reject(new FailureError(closed));
    pending.clear();
  });

  /** A Comlink call to a thread that has ended never settles, so the port's end rejects it. */
  function settle(op: Message, send: () => Promise<Outcome>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (isClosed) return reject(new FailureError(closed));
      pending.add(reject);
      // A message that cannot be cloned is a bug of the sender.
      const refuse = (error: unknown): void => reject(new FailureError(notSendable(name, op, error), { cause: error }));
      try {
        send()
          .then((outcome) => (outcome.ok ? resolve(outcome.value) : reject(new FailureError(outcome.failure))), refuse)
          .finally(() => pending.delete(reject));
      } catch (error) {
        pending.delete(reject);
        refuse(error);
      }
    });
  }

  async function ask(op: Message, signal: AbortSignal | undefined, id: string | undefined): Promise<unknown> {
    const call = (calls += 1);
    const answer = settle(op, () => remote.ask(call, op, id));
    if (signal === undefined) return await answer;
    const aborted = (): FailureError =>
      new FailureError(makeFailure("aborted", `${name}: ${op.type}: aborted`), { cause: signal.reason });
    if (signal.aborted) {
      answer.catch(() => undefined);
      void remote.cancel(call);
      throw aborted();
    }
    return await new Promise((resolve, reject) => {
      const forget = onAborted(signal, () => {
        if (!isClosed) void remote.cancel(call);
        reject(aborted());
      });
      answer.finally(forget).then(resolve, reject);
    });
  }

  return {
    tell: async (op, id) => (await settle(op, () => remote.tell(op, id))) as string,
    ask: <T extends Op["type"]>(op: Extract<Op, { type: T }>, signal?: AbortSignal, id?: string) =>
      ask(op, signal, id) as Promise<AnswerOf<A, T>>,
    // The thread that serves it stops it.
    stop: async () => port.close(),
  };
}

function notSendable(name: string, op: Message, error: unknown): Failure {
  const reason = errorMessage(error);
  return makeFailure("bad_message", `${name}: ${op.type}: cannot cross to the other thread: ${reason}`);
}
