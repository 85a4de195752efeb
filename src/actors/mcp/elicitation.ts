import { isRecord } from "../../base/is-record.js";

/** A server's question to the user during a call. */
export interface ElicitationRequest {
  readonly message: string;
  readonly schema: unknown;
}

export interface ElicitationAnswer {
  // The library requires a mutable type.
  [key: string]: unknown;
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | number | boolean | string[]>;
}

type Value = string | number | boolean;

/**
 * Converts a yes into values: the default of each field, and `true` for a boolean field without one. Undefined when a
 * required field gets no value.
 */
export function defaultAnswers(schema: unknown): Record<string, Value> | undefined {
  const { properties, required } = Object(schema) as { readonly properties?: unknown; readonly required?: unknown };
  if (!isRecord(properties)) return {};
  const said = Object.entries(properties).flatMap(([name, field]): [string, Value][] => {
    const { default: value, type } = Object(field) as { readonly default?: unknown; readonly type?: unknown };
    if (isValue(value)) return [[name, value]];
    return type === "boolean" ? [[name, true]] : [];
  });
  const values = Object.fromEntries(said);
  const isComplete = !Array.isArray(required) || required.every((name) => Object.hasOwn(values, String(name)));
  return isComplete ? values : undefined;
}

function isValue(value: unknown): value is Value {
  return ["string", "number", "boolean"].includes(typeof value);
}
