import { expect, test } from "vitest";
import { openMock, post } from "../support/open-mock-llm.js";

const said = { role: "user", content: "hi" };
const closed = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
const holding = (a: object) => ({ ...closed, properties: { a } });

const bodies = {
  responses: (schema: object, format: object = {}) => ({
    model: "gpt-5",
    input: [said],
    text: { format: { type: "json_schema", name: "shape", strict: true, schema, ...format } },
  }),
  chat: (schema: object, format: object = {}) => ({
    model: "gpt-5",
    messages: [said],
    response_format: { type: "json_schema", json_schema: { name: "shape", strict: true, schema, ...format } },
  }),
  messages: (schema: object, format: object = {}) => ({
    model: "claude",
    max_tokens: 100,
    messages: [said],
    output_config: { format: { type: "json_schema", schema, ...format } },
  }),
} as const;

type Api = keyof typeof bodies;
const apis: Api[] = ["responses", "chat", "messages"];

test.each(apis)("%s takes a schema that is closed, and answers with what fits it", async (api) => {
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
    "an open object inside",
    holding({ type: "object", properties: {} }),
    {},
    "Invalid schema for response_format 'shape': In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false.",
  ],
  ["responses", "a property that may be absent", { ...closed, required: [] }, {}, "Missing 'a'."],
  ["chat", "alternatives under another name", holding({ oneOf: [] }), {}, "'oneOf' is not permitted."],
  ["responses", "a part of no type", holding({}), {}, "schema must have a 'type' key."],
  ["chat", "an array of anything", holding({ type: "array" }), {}, "array schema missing items."],
  [
    "responses",
    "another type",
    { type: "string" },
    {},
    `schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`,
  ],
  ["responses", "a name with a blank", closed, { name: "a b" }, "Invalid 'text.format.name'"],
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
    "bounds of a number",
    holding({ type: "integer", minimum: 1 }),
    {},
    "output_config.format.schema.properties.a: For 'integer' type, property 'minimum' is not supported",
  ],
  [
    "messages",
    "OpenAI's names",
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
