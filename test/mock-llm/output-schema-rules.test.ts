import { expect, test } from "vitest";
import { openMock, post } from "../support/open-mock-llm.js";

const userMessage = { role: "user", content: "hi" };
const closed = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
const withProperty = (a: object) => ({ ...closed, properties: { a } });

const bodies = {
  responses: (schema: object, format: object = {}) => ({
    model: "gpt-5",
    input: [userMessage],
    text: { format: { type: "json_schema", name: "shape", strict: true, schema, ...format } },
  }),
  chat: (schema: object, format: object = {}) => ({
    model: "gpt-5",
    messages: [userMessage],
    response_format: { type: "json_schema", json_schema: { name: "shape", strict: true, schema, ...format } },
  }),
  messages: (schema: object, format: object = {}) => ({
    model: "claude",
    max_tokens: 100,
    messages: [userMessage],
    output_config: { format: { type: "json_schema", schema, ...format } },
  }),
} as const;

type Api = keyof typeof bodies;
const apis: Api[] = ["responses", "chat", "messages"];

test.each(apis)("%s accepts a closed schema and answers with JSON that matches it", async (api) => {
  const mock = await openMock();
  const response = await post(mock, api, bodies[api](closed));
  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(/\{\\"a\\":\\"I am cody's offline model/);
});

test.each<[Api, string, object, object, string]>([
  [
    "responses",
    "an open object",
    { ...closed, additionalProperties: true },
    {},
    "Invalid schema for response_format 'shape': In context=(), 'additionalProperties' is required to be supplied and to be false.",
  ],
  [
    "chat",
    "a nested open object",
    withProperty({ type: "object", properties: {} }),
    {},
    "Invalid schema for response_format 'shape': In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false.",
  ],
  ["responses", "an optional property", { ...closed, required: [] }, {}, "Missing 'a'."],
  ["chat", "oneOf", withProperty({ oneOf: [] }), {}, "'oneOf' is not permitted."],
  ["responses", "a property without a type", withProperty({}), {}, "schema must have a 'type' key."],
  ["chat", "an array without items", withProperty({ type: "array" }), {}, "array schema missing items."],
  [
    "responses",
    "a schema that is not an object",
    { type: "string" },
    {},
    `schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`,
  ],
  ["responses", "a name with a space", closed, { name: "a b" }, "Invalid 'text.format.name'"],
  ["chat", "an unknown parameter", closed, { extra: 1 }, "Unknown parameter: 'response_format.json_schema.extra'."],
  [
    "messages",
    "an open object",
    { ...closed, additionalProperties: true },
    {},
    "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
  ],
  [
    "messages",
    "a minimum of an integer",
    withProperty({ type: "integer", minimum: 1 }),
    {},
    "output_config.format.schema.properties.a: For 'integer' type, property 'minimum' is not supported",
  ],
  [
    "messages",
    "OpenAI's name field",
    closed,
    { name: "shape" },
    "output_config.format.name: Extra inputs are not permitted",
  ],
])("%s refuses %s", async (api, _name, schema, format, message) => {
  const mock = await openMock();
  const response = await post(mock, api, bodies[api](schema, format));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { type: "invalid_request_error", message: expect.stringContaining(message) },
  });
});
