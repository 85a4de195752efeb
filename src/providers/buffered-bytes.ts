import type { ModelEvent } from "../messages/model.js";

/** Smaller amounts are not worth an event. */
const stepBytes = 4_096;
const nothing: readonly ModelEvent[] = [];

/** Counts what a decoder buffers until an item is complete and no delta shows, such as the arguments of a call. */
export class BufferedBytes {
  #unreported = 0;

  /** The event that reports the bytes, when there are enough of them. */
  add(bytes: number): readonly ModelEvent[] {
    this.#unreported += bytes;
    if (this.#unreported < stepBytes) return nothing;
    const event: ModelEvent = { type: "buffered", bytes: this.#unreported };
    this.#unreported = 0;
    return [event];
  }
}
