import { EventReader, type ReaderOptions } from "./event-reader.js";
import { type EventRuns, Replay } from "./replay.js";

const defaultBound = 1_024;

export interface EventQueueOptions<E> {
  /** How many unread events a reader may have. */
  readonly bound?: number;
  /** How many events are kept for readers that come later. */
  readonly replay?: number;
  /** What an event weighs in memory; without it only their number counts. */
  readonly weigh?: (event: E) => number;
  /** Joins two neighbours into one that carries the newer number, or declines. */
  readonly merge?: (older: E, newer: E) => E | undefined;
  /** Which events are kept as texts. */
  readonly runs?: EventRuns<E>;
  /** The event that stands for all from `from` to `to`, which the reader was too slow for. */
  readonly lagged: (from: number, to: number) => E;
  /** What must not be missed, however slow a reader is: repeated after a lag as far as it was in it or before it. */
  readonly onLagged?: () => readonly E[];
}

/** Events for any number of readers, each at its own pace. The numbers of the events have no gap. */
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

  /** Resolves when the lossless readers can take more; undefined when they can now, or there are none. */
  room(): Promise<void> | undefined {
    for (const reader of this.#readers) {
      const room = reader.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }

  /** Without `since` a reader sees what is published from now on; with it, everything from that number on. */
  reader(options: { readonly since?: number; readonly bound?: number } = {}): EventReader<E> {
    const { merge, weigh, lagged, onLagged, bound = defaultBound } = this.#options;
    const readerOptions: ReaderOptions<E> = { merge, weigh, lagged, onLagged, bound: options.bound ?? bound };
    const reader = new EventReader<E>(readerOptions, options.since, () => this.#readers.delete(reader));
    if (options.since !== undefined) for (const event of this.#replay.events()) reader.receive(event);
    if (this.#isClosed) reader.close();
    else this.#readers.add(reader);
    return reader;
  }

  /** Readers end when they have read what they still have. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.close();
    this.#readers.clear();
  }
}
