import type { Failure } from "../../messages/failure.js";

/** Anything that goes into or comes out of an actor has a `type`. */
export interface Message {
  readonly type: string;
}

/** What an asker gets, by message type; a type that is not named answers nothing. */
export type Answers<Op extends Message> = { readonly [T in Op["type"]]?: unknown };

export type AnswerOf<A, T extends PropertyKey> = T extends keyof A ? A[T] : void;

/** What comes out of an actor: `id` is the submission that caused it, empty when nobody asked. */
export interface ActorEvent<Msg> {
  readonly id: string;
  readonly msg: Msg;
}

/**
 * One handler for each message type. Handlers start in the order of the mailbox and must be short; one that answers
 * later returns a promise, and the mailbox goes on meanwhile. Throwing or rejecting ends the incarnation.
 */
export type Handlers<Op extends Message, A, Own extends Message> = {
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

/** Work beside the mailbox. */
export interface Run {
  abort(): void;
}

/** What an incarnation can do besides answering. */
export interface Context<Msg, Own extends Message> {
  /** Starts work beside the mailbox; its end comes back as a message, unless the incarnation has ended before. */
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

/** The only way to an actor, wherever it runs. A call that cannot be served rejects with a `FailureError`. */
export interface Ref<Op extends Message, A extends Answers<Op>> {
  /** Resolves with the submission's id when the mailbox has accepted the message: that is the backpressure. */
  tell(op: Op): Promise<string>;
  /** Resolves with the answer. Aborting the signal rejects at once and reaches the handler as its signal. */
  ask<T extends Op["type"]>(op: Extract<Op, { type: T }>, signal?: AbortSignal): Promise<AnswerOf<A, T>>;
  /** Refuses what comes later, aborts running work, releases what the actor holds. */
  stop(): Promise<void>;
}

/** A restart budget: more than `restarts` within `windowMs` and the actor has failed for good. */
export interface RestartBudget {
  readonly restarts: number;
  readonly windowMs: number;
}

export interface SpawnOptions<Msg> {
  /** How many messages may be accepted and unanswered at once. */
  readonly capacity?: number;
  readonly budget?: RestartBudget;
  readonly onEvent?: (event: ActorEvent<Msg>) => void;
  /** Called when a new incarnation has started after a failure. */
  readonly onRestart?: (failure: Failure) => void;
  /** Called with the id of a message that was told and accepted and will never be handled. Only in this thread. */
  readonly onDropped?: (id: string) => void;
  /** Called when the budget is spent; every later call rejects. */
  readonly onFailed?: (failure: Failure) => void;
}
