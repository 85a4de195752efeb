import type { Message } from "./actor.js";
import type { Linked } from "./linked-list.js";
import type { FailureError } from "../../messages/failure.js";

/** Who sent a message and wants to hear of it. */
export interface Caller {
  /** Called when the message had to wait for a place and now has one. */
  accepted(): void;
  answered(answer: unknown): void;
  refused(error: FailureError): void;
}

/** `cancelled`: the caller has gone but the handler still runs; `dropped`: the incarnation of the handler has ended. */
type EnvelopeStatus = "waiting" | "queued" | "running" | "cancelled" | "dropped" | "settled";

/** One message on its way through a mailbox. */
export class Envelope implements Linked<Envelope> {
  readonly id: string;
  readonly op: Message;
  /** Nobody once a tell has been accepted: it wants to hear of nothing more. */
  caller: Caller | undefined;
  /** Set on what an incarnation sends to itself: such a message needs no place, and dies with its sender. */
  readonly sender: object | undefined;
  /** Only an ask that can be cancelled pays for a signal of its own. */
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
