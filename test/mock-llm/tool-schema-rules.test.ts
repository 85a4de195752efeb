import { expect, test } from "vitest";
import { apis, type ApiName, hello, openMock, post } from "../support/open-mock-llm.js";

const objectSchema = (properties: object) => ({ type: "object", properties });
const closed = { ...objectSchema({ a: { type: "string" } }), required: ["a"], additionalProperties: false };

/** A request with one tool that has these parameters. */
function requestWithTool(api: ApiName, parameters: object, options: object = {}): object {
  const tool = { name: "look", ...options };
  const tools = {
    responses: { type: "function", parameters, ...tool },
    chat: { type: "function", function: { parameters, ...tool } },
    messages: { input_schema: parameters, ...tool },
  };
  return { ...hello(api), tools: [tools[api]] };
}

test.each(apis)("%s accepts arrays with items, and anyOf below the top level", async (api) => {
  const mock = await openMock();
  const list = { type: "array", items: {} };
  const schema = objectSchema({ list, either: { anyOf: [{ type: "string" }, list] }, open: { type: "object" } });
  expect((await post(mock, api, requestWithTool(api, schema))).status).toBe(200);
  expect((await post(mock, api, requestWithTool(api, closed, { strict: true }))).status).toBe(200);
});

const openAi = [
  ["an array without items", objectSchema({ list: { type: "array" } }), {}, "('properties', 'list'), array schema"],
  [
    "a nullable array without items",
    objectSchema({ list: { type: ["array", "null"] } }),
    {},
    "array schema missing items.",
  ],
  [
    "alternatives at the top level",
    { ...objectSchema({}), anyOf: [] },
    {},
    "not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at",
  ],
  [
    "parameters that are not an object",
    { type: "string" },
    {},
    `schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`,
  ],
  ["parameters without a type", {}, {}, `schema must be a JSON Schema of 'type: "object"', got 'type: null'.`],
  ["an object without properties", { type: "object" }, {}, "In context=(), object schema missing properties."],
  [
    "an open object in strict mode",
    objectSchema({}),
    { strict: true },
    "'additionalProperties' is required to be supplied",
  ],
  ["an optional property in strict mode", { ...closed, required: [] }, { strict: true }, "Missing 'a'."],
] as const;

test.each(openAi)("OpenAI's APIs refuse a function with %s", async (_name, schema, options, message) => {
  const mock = await openMock();
  for (const [api, param] of [
    ["responses", "tools[0].parameters"],
    ["chat", "tools[0].function.parameters"],
  ] as const) {
    const response = await post(mock, api, requestWithTool(api, schema, options));
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error).toMatchObject({ type: "invalid_request_error", param, code: "invalid_function_parameters" });
    expect(error.message).toMatch(/^Invalid schema for function 'look': /);
    expect(error.message).toContain(message);
  }
});

test.each([
  [
    "alternatives at the top level",
    { ...objectSchema({}), oneOf: [] },
    "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
  ],
  [
    "a property name with a space",
    objectSchema({ "a b": {} }),
    "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
  ],
])("Messages refuses a tool with %s", async (_name, schema, message) => {
  const mock = await openMock();
  const response = await post(mock, "messages", requestWithTool("messages", schema));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", message } });
});
