import { isRecord } from "../../../base/is-record.js";

export type Fields = Readonly<Record<string, unknown>>;

/** Returns an object's fields; none for any other value. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns a text unless it is blank. */
export function nonBlankText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
