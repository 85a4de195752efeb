import type { Event } from "../../messages/event.js";
import { EventQueue } from "../runtime/event-queue.js";
import type { EventReader } from "../runtime/event-reader.js";
import { mergeDeltas } from "./deltas.js";
import { eventWeight } from "./event-weight.js";
import { OpenApprovalEvents } from "./open-requests.js";

/** An event numbered over all conversations; it keeps its number within its own conversation as well. */
interface NumberedEvent {
  readonly seq: number;
  readonly event: Event;
}

/** One stream of the events of all conversations. It costs nothing until it is first read. */
export class AllEvents {
  readonly #requests: OpenApprovalEvents<NumberedEvent>;
  #queue: EventQueue<NumberedEvent> | undefined;
  #published = 0;

  constructor(isRequestOpen: (conversationId: string, callId: string) => boolean) {
    this.#requests = new OpenApprovalEvents(({ event }) => event, isRequestOpen);
  }

  publish(event: Event): void {
    if (this.#queue === undefined) return;
    const next = { seq: this.#published++, event };
    this.#requests.note(next);
    this.#queue.publish(next);
  }

  /** Returns a reader of all events from now on. */
  reader(): AsyncIterableIterator<Event> {
    return withoutNumbers(this.#opened().reader({}));
  }

  /** Ends all current and future readers. */
  close(): void {
    this.#opened().close();
  }

  #opened(): EventQueue<NumberedEvent> {
    this.#queue ??= new EventQueue<NumberedEvent>({
      merge,
      // No reader starts at an earlier number.
      replay: 0,
      weigh: ({ event }) => eventWeight(event),
      lagged,
      onLagged: () => this.#requests.all(),
    });
    return this.#queue;
  }
}

function merge(older: NumberedEvent, newer: NumberedEvent): NumberedEvent | undefined {
  const event = mergeDeltas(older.event, newer.event);
  return event && { seq: newer.seq, event };
}

function lagged(from: number, to: number): NumberedEvent {
  return { seq: to, event: { id: "", seq: to, conversation_id: "", msg: { type: "lagged", from, to } } };
}

/** Not a generator: one that waits for an event could not be left before the event comes. */
function withoutNumbers(reader: EventReader<NumberedEvent>): AsyncIterableIterator<Event> {
  return {
    next: async () => {
      const { done, value } = await reader.next();
      return done === true ? { done, value } : { done: false, value: value.event };
    },
    return: async () => {
      await reader.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
