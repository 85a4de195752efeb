import type { JsonObject } from "./json.js";
import type { Refusal } from "./wire-api.js";

/** However many answers there are, only so many can be gone on from: the newest ones. */
const maxKept = 1_000;

/** Requests with their answers, by the id of the answer. */
export class Memory {
  readonly #kept = new Map<string, JsonObject>();

  recall(id: string): JsonObject | undefined {
    return this.#kept.get(id);
  }

  keep(id: string, request: JsonObject): void {
    this.#kept.set(id, request);
    const oldest = this.#kept.size > maxKept ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** How a wire API goes on from an answer that its client does not send back. */
export interface Continuation {
  /** The answer a request goes on from. */
  anchorIn(body: JsonObject): string | undefined;
  /** What is said when there is no such answer. */
  lost(id: string): Refusal;
  /** The request as one that needs no memory. */
  joined(kept: JsonObject, body: JsonObject): JsonObject;
  isKept(body: JsonObject): boolean;
  /** What is kept of a request that needs no memory, and of its answer. */
  answered(whole: JsonObject, content: readonly object[]): JsonObject;
}
