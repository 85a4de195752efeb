import { type Event, isApprovalMsg } from "../../messages/event.js";

/** The events of unanswered approval requests, which a reader that fell behind must still see. */
export class OpenApprovalEvents<E> {
  readonly #eventOf: (entry: E) => Event;
  readonly #isOpen: (conversationId: string, callId: string) => boolean;
  #asked: E[] = [];

  constructor(eventOf: (entry: E) => Event, isOpen: (conversationId: string, callId: string) => boolean) {
    this.#eventOf = eventOf;
    this.#isOpen = isOpen;
  }

  note(entry: E): void {
    if (isApprovalMsg(this.#eventOf(entry).msg)) this.#asked = [...this.all(), entry];
  }

  /** Returns the requests that are still open. */
  all(): readonly E[] {
    this.#asked = this.#asked.filter((entry) => {
      const { conversation_id, msg } = this.#eventOf(entry);
      return isApprovalMsg(msg) && this.#isOpen(conversation_id, msg.call_id);
    });
    return this.#asked;
  }
}
