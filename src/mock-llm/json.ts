import { isRecord } from "../base/is-record.js";

export type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = {};

// A lenient server accepts any shape: a value of an unexpected type counts as absent.
/** Neither undefined nor null. */
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

/** Looks up an untrusted key; never returns inherited properties. */
export function entryOf<T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined {
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The text of an object's fields, without its braces. */
export function fieldsText(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}
