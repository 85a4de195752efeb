import type { Failure } from "../../messages/failure.js";

/** Anything that goes into or comes out of an actor has a `type`. */
export interface Message {
  readonly type: string;
}

/** The answer to each message type; a type without an entry has no answer. */
export type Answers<Op extends Message> = { readonly [T in Op["type"]]?: unknown };

export type AnswerOf<A, T extends PropertyKey> = T extends keyof A ? A[T] : void;

/** An event published by an actor. `id` is the submission that caused it, or empty if none did. */
export interface ActorEvent<Msg> {
  readonly id: string;
  readonly msg: Msg;
}

/**
 * One handler for each message type. Handlers start in the order of the mailbox and must be short; one that answers
 * later returns a promise, and the mailbox continues meanwhile. Throwing or rejecting ends the incarnation.
 */
type Handlers<Op extends Message, A, Own extends Message> = {
  readonly [T in Op["type"]]: (
    op: Extract<Op, { type: T }>,
    signal: AbortSignal,
    id: string,
  ) => AnswerOf<A, T> | Promise<AnswerOf<A, T>>;
} & {
  readonly [T in Own["type"]]: (own: Extract<Own, { type: T }>) => void;
} & {
  readonly [Symbol.asyncDispose]?: () => Promise<void>;
};

/** Work that runs beside the mailbox. */
export interface Run {
  abort(): void;
}

/** The functions an incarnation can call besides answering messages. */
export interface Context<Msg, Own extends Message> {
  /** Starts work beside the mailbox. Its end comes back as a message unless the incarnation has ended by then. */
  readonly run: (work: (signal: AbortSignal) => Promise<void>, end: (failure: Failure | undefined) => Own) => Run;
  readonly publish: (msg: Msg, id?: string) => void;
}

/** `start` runs again after a restart; state lives in its closure. */
export interface Actor<
  Op extends Message,
  A extends Answers<Op>,
  Options,
  Msg extends Message = never,
  Own extends Message = never,
> {
  readonly name: string;
  start(options: Options, context: Context<Msg, Own>): Handlers<Op, A, Own> | Promise<Handlers<Op, A, Own>>;
}

/** The only way to reach an actor, wherever it runs. A call that cannot be served rejects with a `FailureError`. */
export interface Ref<Op extends Message, A extends Answers<Op>> {
  /**
   * Resolves with the submission's id when the mailbox has accepted the message: that is the backpressure. The sender
   * may choose the id; otherwise it is a number.
   */
  tell(op: Op, id?: string): Promise<string>;
  /** Resolves with the answer. Aborting the signal rejects at once and reaches the handler as its signal. */
  ask<T extends Op["type"]>(op: Extract<Op, { type: T }>, signal?: AbortSignal, id?: string): Promise<AnswerOf<A, T>>;
  /** Refuses later calls, aborts running work, and releases the actor's resources. */
  stop(): Promise<void>;
}

/** A restart budget: more than `restarts` within `windowMs` and the actor has failed for good. */
export interface RestartBudget {
  readonly restarts: number;
  readonly windowMs: number;
}

export interface SpawnOptions<Msg> {
  /** Maximum number of messages that are accepted and not yet answered. */
  readonly capacity?: number;
  readonly budget?: RestartBudget;
  readonly onEvent?: (event: ActorEvent<Msg>) => void;
  /** Called when the actor has something to do, and when it has nothing left to do. */
  readonly onActive?: (isActive: boolean) => void;
  /** Called when a new incarnation has started after a failure. */
  readonly onRestart?: (failure: Failure) => void;
  /**
   * Called with the id of a told message that was accepted but will never be handled. Only for actors in this thread.
   */
  readonly onDropped?: (id: string) => void;
  /** Called when the budget is spent; every later call rejects. */
  readonly onFailed?: (failure: Failure) => void;
}
