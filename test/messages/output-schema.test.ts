import { expect, test } from "vitest";
import { maxSchemaChars, OutputSchema } from "../../src/messages/output-schema.js";
import { check } from "../../src/base/parse.js";

const objectOf = (properties: Readonly<Record<string, unknown>>, more: object = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = { type: "string" };

function endless(): Record<string, unknown> {
  const schema: Record<string, unknown> = objectOf({});
  schema["properties"] = { again: schema };
  schema["required"] = ["again"];
  return schema;
}

test.each([
  ["no properties", objectOf({})],
  [
    "every type",
    objectOf({ a: text, b: { type: ["integer", "null"] }, c: { type: "array", items: objectOf({ d: text }) } }),
  ],
  [
    "alternatives, values and names",
    objectOf(
      { a: { anyOf: [text, { $ref: "#/$defs/b" }] }, c: { enum: ["x"] } },
      { $defs: { b: objectOf({ d: { const: 1 } }) } },
    ),
  ],
  ["bounds and words", objectOf({ a: { type: "integer", minimum: 1, description: "how many" } }, { title: "A" })],
])("a schema with %s is accepted", (_name, schema) => {
  expect(check(OutputSchema, schema, "schema")).toBe(schema);
});

test.each<[string, unknown, string]>([
  ["is not an object", "{}", "schema: expected a JSON Schema object"],
  ["is a list", [], "schema: expected a JSON Schema object"],
  [
    "has another type",
    { type: "array", items: text },
    'schema: type: the schema of an answer must be of type "object"',
  ],
  [
    "allows additional properties",
    objectOf({}, { additionalProperties: true }),
    "schema: additionalProperties: expected false: only named properties are allowed",
  ],
  [
    "has an optional property",
    objectOf({ a: text, b: text }, { required: ["a"] }),
    'schema: required: "b" is missing: list every property; make optional ones nullable',
  ],
  [
    "requires an unknown property",
    objectOf({}, { required: ["a"] }),
    "schema: required: it lists a name that is not a property",
  ],
  [
    "has no properties",
    { type: "object", additionalProperties: false },
    "schema: properties: expected the properties of the object",
  ],
  ["has a part of no type", objectOf({ a: {} }), "schema: properties.a: missing type"],
  [
    "has a part of an unknown type",
    objectOf({ a: { type: "text" } }),
    "schema: properties.a.type: expected one of string, number, integer, boolean, null, object, array",
  ],
  [
    "has a part that may be an object",
    objectOf({ a: { type: ["object", "null"] } }),
    "schema: properties.a.type: use anyOf to allow an object, an array or another type",
  ],
  [
    "has an array of anything",
    objectOf({ a: { type: "array" } }),
    "schema: properties.a.items: expected the schema of the array's items",
  ],
  ["has a part that is no schema", objectOf({ a: "string" }), "schema: properties.a: expected a schema object"],
  [
    "has a nested object with additional properties",
    objectOf({ a: { type: "array", items: { type: "object", properties: {} } } }),
    "schema: properties.a.items.additionalProperties: expected false: only named properties are allowed",
  ],
  [
    "refers to a missing schema",
    objectOf({ a: { $ref: "#/$defs/b" } }),
    "schema: properties.a.$ref: expected #/$defs/… with the name of an existing schema",
  ],
  ["says oneOf", objectOf({ a: { oneOf: [text] } }), "schema: properties.a.oneOf: not supported by models; say anyOf"],
  ["has no alternatives", objectOf({ a: { anyOf: [] } }), "schema: properties.a.anyOf: expected a list of schemas"],
  ["has no values", objectOf({ a: { enum: [] } }), "schema: properties.a.enum: expected a list of values"],
  ["contains itself", endless(), "schema: nested more than 20 levels deep"],
  [
    "is too long",
    objectOf({ a: { ...text, description: "x".repeat(maxSchemaChars) } }),
    "schema: a schema can have at most 100000 characters",
  ],
  ["is no JSON", objectOf({ a: { const: 1n } }), "schema: cannot be converted to JSON"],
])("a schema that %s is refused with the path of the problem", (_name, schema, message) => {
  expect(() => check(OutputSchema, schema, "schema")).toThrow(message);
});
