import { isRecord } from "../../base/is-record.js";

/** What a server asks a person for while it works at a call. */
export interface Elicited {
  readonly message: string;
  readonly schema: unknown;
}

export interface ElicitationAnswer {
  // The library wants what it may write to.
  [key: string]: unknown;
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | number | boolean | string[]>;
}

type Value = string | number | boolean;

/**
 * What a yes means as values: for each field its default, and for a field that is a question by itself the yes.
 * Undefined when something is required that a yes does not say.
 */
export function valuesOfYes(schema: unknown): Record<string, Value> | undefined {
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
