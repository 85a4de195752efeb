import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import * as z from "zod";
import { OutputSchema } from "../../src/messages/output-schema.js";

/** Random values of a schema; supports only the schema types that our messages use. */
export function arbitraryOf(schema: z.core.$ZodType): Arbitrary<unknown> {
  if (schema === OutputSchema) return outputSchemas();
  if (schema instanceof z.ZodObject) return objectOf(schema);
  if (schema instanceof z.ZodUnion) return fc.oneof(...schema.options.map(arbitraryOf));
  if (schema instanceof z.ZodArray) return fc.array(arbitraryOf(schema.element), { minLength: 1, maxLength: 3 });
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional)
    return fc.option(arbitraryOf(schema.unwrap()), { nil: undefined });
  if (schema instanceof z.ZodReadonly) return arbitraryOf(schema.unwrap());
  if (schema instanceof z.ZodNullable) return fc.option(arbitraryOf(schema.unwrap()), { nil: null });
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodCatch) return arbitraryOf(schema.unwrap());
  if (schema instanceof z.ZodRecord) return dictionaryOf(schema);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodString) return stringOf(schema);
  if (schema instanceof z.ZodNumber) return numberOf(schema);
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodUnknown) return jsonValue();
  // The only custom schema matches unknown event types.
  if (schema instanceof z.ZodCustom) return fc.constant("a_type_from_the_future");
  throw new Error(`no values for a ${schema.constructor.name}`);
}

function objectOf(schema: z.ZodObject): Arbitrary<unknown> {
  const entries = Object.entries(schema.shape).map(([key, value]) => [key, arbitraryOf(value)] as const);
  const record = fc.record(Object.fromEntries(entries));
  const hasChecks = (schema.def.checks ?? []).length > 0;
  return hasChecks ? record.filter((value) => schema.safeParse(value).success) : record;
}

/** Valid JSON schemas for an output; not every object is one. */
function outputSchemas(): Arbitrary<unknown> {
  return fc.array(fc.string().filter(isPlainKey)).map((names) => ({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: [...new Set(names)],
    additionalProperties: false,
  }));
}

function dictionaryOf({ keyType, valueType }: z.ZodRecord): Arbitrary<unknown> {
  const keys = arbitraryOf(keyType) as Arbitrary<string>;
  return fc.dictionary(keys.filter(isPlainKey), arbitraryOf(valueType));
}

function numberOf({ minValue, maxValue }: z.ZodNumber): Arbitrary<number> {
  const min = Math.max(1, minValue ?? 1);
  return fc.integer({ min, max: Math.max(min, Math.min(1_000_000, maxValue ?? 1_000_000)) });
}

function stringOf(schema: z.ZodString): Arbitrary<string> {
  for (const { _zod } of schema.def.checks ?? []) {
    if ("pattern" in _zod.def && _zod.def.pattern instanceof RegExp) return fc.stringMatching(_zod.def.pattern);
  }
  const strings = fc.string({ minLength: 1 });
  const isPlain = (schema.def.checks ?? []).length === 0;
  // A check may ask for a time, and no random text is one.
  return isPlain ? strings : fc.oneof(strings, times).filter((text) => schema.safeParse(text).data === text);
}

const times = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());

function jsonValue(): Arbitrary<unknown> {
  // JSON has no negative zero.
  return fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)));
}

/** JSON cannot carry `__proto__` as an ordinary key through an object literal. */
function isPlainKey(key: string): boolean {
  return key !== "__proto__";
}
