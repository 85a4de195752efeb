import { isRecord } from "../../../base/is-record.js";

export type Fields = Readonly<Record<string, unknown>>;

/** What is no object has no fields. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A text that says something. */
export function saidText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
