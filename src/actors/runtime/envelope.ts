import type { Message } from "./actor.js";
import type { Linked } from "./linked-list.js";
import type { FailureError } from "../../messages/failure-error.js";

/** The sender of a message, notified of its outcome. */
export interface Caller {
  /** Called when the message had to wait for a place and now has one. */
  accepted(): void;
  answered(answer: unknown): void;
  refused(error: FailureError): void;
}

/** `cancelled`: the caller cancelled but the handler still runs; `dropped`: the handler's incarnation has ended. */
type EnvelopeStatus = "waiting" | "queued" | "running" | "cancelled" | "dropped" | "settled";

/** One message on its way through a mailbox. */
export class Envelope implements Linked<Envelope> {
  readonly id: string;
  readonly op: Message;
  /** Undefined once a tell has been accepted: it expects no further notification. */
  caller: Caller | undefined;
  /** Set on messages that an incarnation sends to itself: they need no place and are dropped when the sender ends. */
  readonly sender: object | undefined;
  /** Only a cancellable ask gets its own controller, to save allocations. */
  readonly controller: AbortController | undefined;
  status: EnvelopeStatus = "waiting";
  previous: Envelope | undefined = undefined;
  next: Envelope | undefined = undefined;

  constructor(id: string, op: Message, caller?: Caller, controller?: AbortController, sender?: object) {
    this.id = id;
    this.op = op;
    this.caller = caller;
    this.controller = controller;
    this.sender = sender;
  }
}
