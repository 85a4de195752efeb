import type { ModelEvent } from "../messages/model.js";

type Delta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" | "tool_call_delta" }>;

/**
 * Buffers the events of an answer until they are read. Consecutive deltas of one item are merged, because no reader
 * could tell them apart and a hundred events cost a hundred times as much.
 */
export class EventBuffer {
  #events: ModelEvent[] = [];
  #told = 0;
  /** The last event, if it is a delta. */
  #delta: Delta | undefined;
  /** The texts merged into that delta, if there are several. */
  #pieces: string[] | undefined;

  get isEmpty(): boolean {
    return this.#told === this.#events.length;
  }

  add(event: ModelEvent): void {
    if (event.type === "text_delta" || event.type === "reasoning_delta" || event.type === "tool_call_delta") {
      return this.#addDelta(event);
    }
    this.#closeDelta();
    this.#push(event);
  }

  take(): ModelEvent | undefined {
    this.#closeDelta();
    const event = this.#events[this.#told];
    if (event !== undefined) this.#told += 1;
    return event;
  }

  clear(): void {
    this.#events = [];
    this.#told = 0;
    this.#delta = undefined;
    this.#pieces = undefined;
  }

  /** Makes a new array, because one that was emptied would reserve room for many events, and there is mostly one. */
  #push(event: ModelEvent): void {
    if (!this.isEmpty) return void this.#events.push(event);
    this.#events = [event];
    this.#told = 0;
  }

  #addDelta(event: Delta): void {
    if (event.type === this.#delta?.type && event.itemId === this.#delta.itemId) {
      this.#pieces ??= [this.#delta.delta];
      this.#pieces.push(event.delta);
      return;
    }
    this.#closeDelta();
    this.#delta = event;
    this.#push(event);
  }

  /** Joins once at the end: a string built by concatenation keeps every piece in memory as long as it lives. */
  #closeDelta(): void {
    if (this.#delta !== undefined && this.#pieces !== undefined) {
      this.#events[this.#events.length - 1] = { ...this.#delta, delta: this.#pieces.join("") };
      this.#pieces = undefined;
    }
    this.#delta = undefined;
  }
}
