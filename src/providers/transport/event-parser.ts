import { eventJson } from "./event-json.js";
import { fillTemplate, matchesTemplate, type EventTemplate, createTemplate } from "./event-template.js";

/** Deltas are short; longer events are not repeated. */
const maxChars = 2_048;
/** After this many events that do not match the template, no new template is made. */
const maxMisses = 8;

/**
 * Reads the events of one answer. Most differ from the previous one only in a text and a number; comparing them with it
 * is faster than parsing. The returned object is valid until the next call, which may change it.
 */
export class EventParser {
  #mold: EventTemplate | undefined;
  #misses = 0;

  read(data: string): Record<string, unknown> {
    if (this.#mold !== undefined && matchesTemplate(data, this.#mold)) {
      this.#misses = 0;
      return fillTemplate(this.#mold);
    }
    const value = eventJson(data);
    if (data.length > maxChars || this.#misses > maxMisses || !isDelta(value)) return value;
    const mold = createTemplate(data, value);
    if (mold === undefined) return value;
    this.#mold = mold;
    this.#misses += 1;
    return value;
  }
}

/** Other events may be stored by the decoder, which must not see their fields change. Chat events have no type. */
function isDelta({ type }: Record<string, unknown>): boolean {
  return typeof type !== "string" || type.endsWith("delta");
}
