import { eventJson } from "./event-json.js";
import { filled, fits, type Mold, moldOf } from "./event-template.js";

/** A delta is short; what is longer comes once. */
const maxChars = 2_048;
/** So often an event may be unlike the one before it; then it is not worth looking. */
const maxMisses = 8;

/**
 * Reads the events of one answer. Most differ from the one before in a text and a number alone; those are compared
 * with it instead of parsed, which takes less time. What it gives is good until the next is read.
 */
export class AlikeEvents {
  #mold: Mold | undefined;
  #misses = 0;

  read(data: string): Record<string, unknown> {
    if (this.#mold !== undefined && fits(data, this.#mold)) {
      this.#misses = 0;
      return filled(this.#mold);
    }
    const value = eventJson(data);
    if (data.length > maxChars || this.#misses > maxMisses || !isDelta(value)) return value;
    const mold = moldOf(data, value);
    if (mold === undefined) return value;
    this.#mold = mold;
    this.#misses += 1;
    return value;
  }
}

/** Of others more may be kept than their texts, and what is given here changes. Events of Chat have no type. */
function isDelta({ type }: Record<string, unknown>): boolean {
  return typeof type !== "string" || type.endsWith("delta");
}
