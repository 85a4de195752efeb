import type { Event } from "../../messages/event.js";
import { EventQueue } from "../system/event-queue.js";
import { mergeDeltas } from "./deltas.js";
import { eventWeight } from "./event-weight.js";
import { OpenRequests } from "./open-requests.js";

/** The events of many conversations in one order; each keeps the number it has in its own conversation. */
interface NumberedEvent {
  readonly seq: number;
  readonly event: Event;
}

/** One stream of the events of all conversations. It costs nothing before somebody reads it. */
export class AllEvents {
  readonly #requests: OpenRequests<NumberedEvent>;
  #queue: EventQueue<NumberedEvent> | undefined;
  #published = 0;

  constructor(isRequestOpen: (conversationId: string, callId: string) => boolean) {
    this.#requests = new OpenRequests(({ event }) => event, isRequestOpen);
  }

  publish(event: Event): void {
    if (this.#queue === undefined) return;
    const next = { seq: this.#published++, event };
    this.#requests.note(next);
    this.#queue.publish(next);
  }

  /** From now on. */
  reader(): AsyncGenerator<Event> {
    return unnumbered(this.#opened().reader({}));
  }

  /** Whoever reads, or comes later, is at the end. */
  close(): void {
    this.#opened().close();
  }

  #opened(): EventQueue<NumberedEvent> {
    this.#queue ??= new EventQueue<NumberedEvent>({
      merge,
      // Nobody reads from a number on.
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

async function* unnumbered(events: AsyncIterable<NumberedEvent>): AsyncGenerator<Event> {
  for await (const { event } of events) yield event;
}
