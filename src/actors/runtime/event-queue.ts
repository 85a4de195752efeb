import { EventReader, type ReaderOptions } from "./event-reader.js";
import { type EventRuns, Replay } from "./replay.js";

const defaultBound = 1_024;

export interface EventQueueOptions<E> {
  /** Maximum number of unread events per reader. */
  readonly bound?: number;
  /** Number of events kept for readers that start later. */
  readonly replay?: number;
  /** The weight of an event in memory; without it only the number of events is bounded. */
  readonly weigh?: (event: E) => number;
  /** Merges two neighbouring events into one with the newer number, or returns undefined. */
  readonly merge?: (older: E, newer: E) => E | undefined;
  /** Selects the events that are stored compactly, as texts only. */
  readonly runs?: EventRuns<E>;
  /** Creates the event that replaces all events from `from` to `to`, which a slow reader has missed. */
  readonly lagged: (from: number, to: number) => E;
  /** Returns events that no reader may miss. After a lag, those up to its end are repeated. */
  readonly onLagged?: () => readonly E[];
}

/** Delivers events to any number of readers, each at its own pace. Event numbers have no gaps. */
export class EventQueue<E extends { readonly seq: number }> {
  readonly #options: EventQueueOptions<E>;
  readonly #readers = new Set<EventReader<E>>();
  readonly #replay: Replay<E>;
  #isClosed = false;

  constructor(options: EventQueueOptions<E>) {
    this.#options = options;
    const { bound = defaultBound, replay = bound, weigh, runs } = options;
    this.#replay = new Replay({ bound: replay, weigh, runs });
  }

  /** Never blocks; after `close` it does nothing. */
  publish(event: E): void {
    if (this.#isClosed) return;
    this.#replay.push(event);
    for (const reader of this.#readers) reader.receive(event);
  }

  /** Resolves when the lossless readers can take more; undefined when they can now or there are none. */
  room(): Promise<void> | undefined {
    for (const reader of this.#readers) {
      const room = reader.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }

  /** Without `since` a reader receives only new events; with it, all events from that number on. */
  reader(options: { readonly since?: number; readonly bound?: number } = {}): EventReader<E> {
    const { merge, weigh, lagged, onLagged, bound = defaultBound } = this.#options;
    const readerOptions: ReaderOptions<E> = { merge, weigh, lagged, onLagged, bound: options.bound ?? bound };
    const reader = new EventReader<E>(readerOptions, options.since, () => this.#readers.delete(reader));
    if (options.since !== undefined) for (const event of this.#replay.events()) reader.receive(event);
    if (this.#isClosed) reader.close();
    else this.#readers.add(reader);
    return reader;
  }

  /** Each reader ends after its remaining events. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.close();
    this.#readers.clear();
  }
}
