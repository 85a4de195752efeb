import type { ModelEvent } from "../messages/model.js";

/** Smaller amounts are not reported as an event. */
const stepBytes = 4_096;
const nothing: readonly ModelEvent[] = [];

/**
 * Counts bytes that a decoder buffers until an item is complete and that no delta event shows, such as a call's
 * arguments.
 */
export class BufferedBytes {
  #unreported = 0;

  /** Returns the event that reports the bytes, once there are enough of them. */
  add(bytes: number): readonly ModelEvent[] {
    this.#unreported += bytes;
    if (this.#unreported < stepBytes) return nothing;
    const event: ModelEvent = { type: "buffered", bytes: this.#unreported };
    this.#unreported = 0;
    return [event];
  }
}
