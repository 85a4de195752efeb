import { isRecord } from "../base/is-record.js";

/**
 * These helpers read untrusted JSON from a server. Validating each of a thousand deltas with a schema would cost more
 * than decoding them.
 */
/** The text under a name; empty if there is none. */
export function textAt(record: Record<string, unknown>, name: string): string {
  const value = record[name];
  return typeof value === "string" ? value : "";
}

/** The object under a name; empty if there is none. */
export function recordAt(record: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = record[name];
  return isRecord(value) ? value : {};
}

/** The objects in the array under a name; other elements are left out. */
export function recordsAt(record: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const value = record[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The count under a name; 0 if there is none. */
export function countAt(record: Record<string, unknown>, name: string): number {
  const value = record[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
