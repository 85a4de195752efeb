import { isRecord } from "../base/is-record.js";

/** Reading what a server sent without trusting it; a schema for each of a thousand deltas would cost more than they do. */
/** The text under a name, empty when there is none. */
export function textAt(record: Record<string, unknown>, name: string): string {
  const value = record[name];
  return typeof value === "string" ? value : "";
}

/** The object under a name, empty when there is none. */
export function recordAt(record: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = record[name];
  return isRecord(value) ? value : {};
}

/** The objects in the list under a name; what is none is left out. */
export function recordsAt(record: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const value = record[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The count under a name, 0 when there is none. */
export function countAt(record: Record<string, unknown>, name: string): number {
  const value = record[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
