import type { ModelEvent } from "../messages/model.js";

type Delta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" | "tool_call_delta" }>;

/**
 * What an answer has said and nobody has heard yet. Deltas of one item that came together are one, because nobody
 * could see them apart, and a hundred events cost a hundred times as much.
 */
export class EventBuffer {
  #events: ModelEvent[] = [];
  #told = 0;
  /** Of the last event, when it is a delta. */
  #delta: Delta | undefined;
  /** Of that delta, when it is more than one. */
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

  /** A list that was emptied would get room for many, and there is mostly one. */
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

  /** Joined in one go: a string grown piece by piece keeps every piece for as long as it lives. */
  #closeDelta(): void {
    if (this.#delta !== undefined && this.#pieces !== undefined) {
      this.#events[this.#events.length - 1] = { ...this.#delta, delta: this.#pieces.join("") };
      this.#pieces = undefined;
    }
    this.#delta = undefined;
  }
}
