import { isRecord } from "../base/is-record.js";

export type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = {};

// A lenient server answers what has any shape: whatever is not as expected counts as absent.

/** Neither absent nor null. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? value : nothing;
}

export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What a table has under a key that came from outside: never what every object has. */
export function entryOf<T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined {
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The fields of an object as they stand between its braces. */
export function fieldsText(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}
