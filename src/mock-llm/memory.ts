import type { JsonObject } from "./json.js";

/** Only the newest answers can be continued. */
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
