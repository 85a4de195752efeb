import { setMaxListeners } from "node:events";
import type { Actor, AnswerOf, Answers, Message, Ref, SpawnOptions } from "./actor.js";
import { Cell } from "./cell.js";
import { Envelope } from "./envelope.js";
import { makeFailure } from "./failures.js";
import type { Blueprint } from "./incarnation.js";
import { FailureError } from "../../messages/failure-error.js";

/** Starts an actor in this thread. */
export function spawn<
  Op extends Message,
  A extends Answers<Op>,
  Options,
  Msg extends Message = never,
  Own extends Message = never,
>(actor: Actor<Op, A, Options, Msg, Own>, options: Options, spawnOptions: SpawnOptions<Msg> = {}): Ref<Op, A> {
  const cell = new Cell(bindOptions(actor, options), spawnOptions as SpawnOptions<unknown>);
  let submissions = 0;
  const nextId = (): string => String((submissions += 1));
  return {
    tell: (op) => tell(cell, nextId(), op),
    ask: <T extends Op["type"]>(op: Extract<Op, { type: T }>, signal?: AbortSignal) =>
      ask(cell, nextId(), op, signal) as Promise<AnswerOf<A, T>>,
    stop: () => cell.stop(),
  };
}

/** Binds an actor to its options and erases its types; the reference around it keeps them. */
export function bindOptions<
  Op extends Message,
  A extends Answers<Op>,
  Options,
  Msg extends Message,
  Own extends Message,
>(actor: Actor<Op, A, Options, Msg, Own>, options: Options): Blueprint {
  return {
    name: actor.name,
    start: (context) => actor.start(options, context),
  };
}

/** Calls back when the signal aborts, unless the returned function is called first. */
export function onAborted(signal: AbortSignal, callback: () => void): () => void {
  // One signal may abort hundreds of asks; Node warns of a leak above ten listeners.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}

function tell(cell: Cell, id: string, op: Message): Promise<string> {
  if (cell.refusal !== undefined) return Promise.reject(new FailureError(cell.refusal));
  if (cell.hasPlace) {
    cell.submit(new Envelope(id, op));
    return Promise.resolve(id);
  }
  return new Promise((resolve, reject) => {
    const accepted = (): void => {
      envelope.caller = undefined;
      resolve(id);
    };
    const envelope = new Envelope(id, op, { accepted, answered: () => undefined, refused: reject });
    cell.submit(envelope);
  });
}

function ask(cell: Cell, id: string, op: Message, signal: AbortSignal | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) {
      cell.submit(new Envelope(id, op, { accepted: () => undefined, answered: resolve, refused: reject }));
      return;
    }
    if (signal.aborted) {
      reject(new FailureError(makeFailure("aborted", `${cell.name}: ${op.type}: aborted`), { cause: signal.reason }));
      return;
    }
    const forget = onAborted(signal, () => cell.cancel(envelope, signal.reason));
    const caller = {
      accepted: () => undefined,
      answered: (answer: unknown) => {
        forget();
        resolve(answer);
      },
      refused: (error: FailureError) => {
        forget();
        reject(error);
      },
    };
    const envelope = new Envelope(id, op, caller, new AbortController());
    cell.submit(envelope);
  });
}
