import type { MessagePort } from "node:worker_threads";
import type { Failure } from "../../messages/failure.js";
import type { ActorEvent, Message, RestartBudget } from "./actor.js";

/** What a thread gets as its `workerData`; the port is Comlink's. */
export interface ThreadData {
  readonly control: MessagePort;
}

export interface StartOrder {
  readonly options: unknown;
  readonly capacity: number;
  readonly budget: RestartBudget | undefined;
  /** Where reports go, for as long as the thread lives. */
  readonly reports: MessagePort;
}

/** One message on its way into the thread. Its number grows by one with each submission of a reference. */
export interface Delivery {
  readonly number: number;
  readonly op: Message;
  readonly kind: "tell" | "ask" | "cancellable_ask";
}

/** What can be called in the thread, through Comlink. Every call returns at once, so a late answer means trouble. */
export interface ThreadControl {
  start(order: StartOrder): void;
  /** Returns the highest number the mailbox has accepted; what waits is reported as accepted later. */
  deliver(batch: readonly Delivery[]): number;
  cancel(number: number): void;
  stop(): void;
}

/** What the thread says, in batches and in order. */
export type Report =
  | { readonly type: "started" }
  | { readonly type: "accepted"; readonly through: number }
  | { readonly type: "answered"; readonly number: number; readonly answer: unknown }
  | { readonly type: "refused"; readonly number: number; readonly failure: Failure }
  | { readonly type: "published"; readonly event: ActorEvent<unknown> }
  | { readonly type: "restarted"; readonly failure: Failure }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "stopped" };
