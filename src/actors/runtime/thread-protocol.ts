import type { MessagePort } from "node:worker_threads";
import type { Failure } from "../../messages/failure.js";
import type { ActorEvent, Message, RestartBudget } from "./actor.js";

/** The `workerData` of a thread; Comlink uses the port. */
export interface ThreadData {
  readonly control: MessagePort;
}

export interface StartRequest {
  readonly options: unknown;
  readonly capacity: number;
  readonly budget: RestartBudget | undefined;
  /** The port for reports, for the lifetime of the thread. */
  readonly reports: MessagePort;
}

/** One message sent into the thread. Its number grows by one with each submission of a reference. */
export interface Delivery {
  readonly number: number;
  readonly op: Message;
  readonly kind: "tell" | "ask" | "cancellable_ask";
}

/**
 * The functions that can be called in the thread through Comlink. All return at once, so a late answer means that the
 * thread hangs.
 */
export interface ThreadControl {
  start(order: StartRequest): void;
  /** Returns the highest number the mailbox has accepted; waiting messages are reported when they are accepted. */
  deliver(batch: readonly Delivery[]): number;
  cancel(number: number): void;
  stop(): void;
}

/** Reports from the thread, sent in batches and in order. */
export type Report =
  | { readonly type: "started" }
  | { readonly type: "accepted"; readonly through: number }
  | { readonly type: "answered"; readonly number: number; readonly answer: unknown }
  | { readonly type: "refused"; readonly number: number; readonly failure: Failure }
  | { readonly type: "published"; readonly event: ActorEvent<unknown> }
  | { readonly type: "restarted"; readonly failure: Failure }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "stopped" };
