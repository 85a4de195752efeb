import type { ModelEvent } from "../messages/model.js";

type Delta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" }>;

/**
 * What an answer has said and nobody has heard yet. Deltas of one item that came together are one, because nobody
 * could see them apart, and a hundred events cost a hundred times as much.
 */
export class SaidEvents {
  readonly #events: ModelEvent[] = [];
  #told = 0;
  /** Of the last event, when it is a delta. */
  #delta: Delta | undefined;
  readonly #pieces: string[] = [];

  get isEmpty(): boolean {
    return this.#told === this.#events.length;
  }

  add(event: ModelEvent): void {
    if (event.type === "text_delta" || event.type === "reasoning_delta") return this.#addDelta(event);
    this.#closeDelta();
    this.#events.push(event);
  }

  take(): ModelEvent | undefined {
    this.#closeDelta();
    const event = this.#events[this.#told];
    this.#told += 1;
    if (event === undefined) this.clear();
    return event;
  }

  clear(): void {
    this.#events.length = 0;
    this.#told = 0;
    this.#delta = undefined;
    this.#pieces.length = 0;
  }

  #addDelta(event: Delta): void {
    if (event.type !== this.#delta?.type || event.itemId !== this.#delta.itemId) {
      this.#closeDelta();
      this.#delta = event;
      this.#events.push(event);
    }
    this.#pieces.push(event.delta);
  }

  /** Joined in one go: a string grown piece by piece keeps every piece for as long as it lives. */
  #closeDelta(): void {
    if (this.#delta === undefined) return;
    if (this.#pieces.length > 1) {
      this.#events[this.#events.length - 1] = { ...this.#delta, delta: this.#pieces.join("") };
    }
    this.#delta = undefined;
    this.#pieces.length = 0;
  }
}
