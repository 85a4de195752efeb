import { expect, test } from "vitest";
import { encryptedContent } from "../../../src/mock-llm/signatures.js";
import { openMock, post } from "../../support/open-mock-llm.js";

const call = { type: "function_call", call_id: "call_1", name: "shell", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "ok" };
const custom = { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: "*** Begin Patch" };
const customOutput = { ...output, type: "custom_tool_call_output" };
const customTool = { type: "custom", name: "apply_patch" };
const user = { role: "user", content: "hi" };
const assistantMessage = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text: "hi" }],
};
const input = (...items: object[]) => ({ input: [user, ...items] });

test.each<[string, object, object]>([
  [
    "a call without its output",
    input(call),
    { message: "No tool output found for function call call_1.", param: "input", code: null },
  ],
  [
    "an output without its call",
    input(output),
    { message: "No tool call found for function call output with call_id call_1.", param: "input", code: null },
  ],
  ["a second call with the same id", input(call, output, call), { message: expect.stringContaining("Duplicate") }],
  ["a second output of one call", input(call, output, output), { message: expect.stringContaining("Duplicate") }],
  [
    "a repeated item",
    input(assistantMessage, assistantMessage),
    {
      message: "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
      param: "input",
      code: null,
    },
  ],
  [
    "an id with the prefix of another item type",
    input({ ...assistantMessage, id: "abc" }),
    {
      message: "Invalid 'input[1].id': 'abc'. Expected an ID that begins with 'msg'.",
      param: "input[1].id",
      code: "invalid_value",
    },
  ],
  [
    "reasoning at the end",
    input({ type: "reasoning", id: "rs_1", summary: [] }),
    {
      message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      param: "input",
    },
  ],
  [
    "reasoning before a user message",
    input({ type: "reasoning", id: "rs_1", summary: [] }, user),
    { message: expect.stringContaining("without its required following item") },
  ],
  [
    "reasoning with invalid encrypted content",
    input({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAforeign" }, assistantMessage),
    { message: expect.stringContaining("could not be verified"), code: "invalid_encrypted_content" },
  ],
  [
    "an unknown parameter",
    { ...input(), reasoningEffort: "low" },
    { message: "Unknown parameter: 'reasoningEffort'.", param: "reasoningEffort", code: "unknown_parameter" },
  ],
  [
    "an unknown parameter of an item",
    input({ ...call, origin: "x" }, output),
    { message: "Unknown parameter: 'input[1].origin'.", param: "input[1].origin", code: "unknown_parameter" },
  ],
  [
    "a wrong type",
    { input: 5 },
    {
      message: "Invalid type for 'input': expected one of a string or an array of objects, but got an integer instead.",
      param: "input",
      code: "invalid_type",
    },
  ],
  [
    "no model",
    { model: undefined, ...input() },
    { message: "Missing required parameter: 'model'.", param: "model", code: "missing_required_parameter" },
  ],
  [
    "a wrong role",
    { input: [{ role: "tool", content: "x" }] },
    {
      message: "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
      param: "input[0].role",
      code: "invalid_value",
    },
  ],
  [
    "input_text in an assistant message",
    input({ role: "assistant", content: [{ type: "input_text", text: "x" }] }),
    {
      message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
      param: "input[1].content[0]",
      code: "invalid_value",
    },
  ],
  ["an item type named like a property of Object.prototype", input({ type: "constructor" }), { code: "invalid_value" }],
  ["empty content", input({ role: "user", content: [] }), { code: "empty_array" }],
  ["no input at all", { input: [] }, { code: "missing_required_parameter" }],
  [
    "a name with a dot",
    { ...input(), tools: [{ type: "function", name: "a.b", parameters: {}, strict: false }] },
    { message: expect.stringContaining("'^[a-zA-Z0-9_-]+$'"), param: "tools[0].name" },
  ],
  [
    "a call id that is too long",
    input({ ...call, call_id: "x".repeat(65) }),
    { message: expect.stringContaining("maximum length 64"), code: "string_above_max_length" },
  ],
  [
    "reasoning encrypted for another model",
    input(
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: encryptedContent("rs_1", "gpt-5-mini") },
      assistantMessage,
    ),
    { message: expect.stringContaining("could not be decrypted"), code: "invalid_encrypted_content" },
  ],
  [
    "reasoning with the id of another reasoning item",
    input(
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: encryptedContent("rs_1", "gpt-5") },
      assistantMessage,
    ),
    { message: expect.stringContaining("item_id did not match"), code: "invalid_encrypted_content" },
  ],
  [
    "reasoning for a model without reasoning",
    {
      ...input(
        { type: "reasoning", summary: [], encrypted_content: encryptedContent("rs_1", "gpt-4o") },
        assistantMessage,
      ),
      model: "gpt-4o",
    },
    { message: expect.stringContaining("can only be provided to a reasoning") },
  ],
  [
    "an effort for a model without reasoning",
    { ...input(), model: "gpt-4o", reasoning: { effort: "low" } },
    { param: "reasoning.effort", code: "unsupported_parameter" },
  ],
  [
    "a call with its id but without the reasoning before it",
    input({ ...call, id: "fc_1_rs_1" }, output),
    { message: "Item 'fc_1_rs_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'." },
  ],
  [
    "arguments that are not a JSON object",
    input({ ...call, arguments: "[1]" }, output),
    { param: "input[1].arguments" },
  ],
  [
    "an image in a system message",
    input({ role: "system", content: [{ type: "input_image", image_url: "https://example.com/a.png" }] }),
    { param: "input[1].content[0]", code: "invalid_value" },
  ],
  [
    "an invalid image",
    input({ role: "user", content: [{ type: "input_image", image_url: "file:///a.png" }] }),
    { param: "input[1].content[0].image_url", code: "invalid_value" },
  ],
  [
    "a custom call without its output",
    input(custom),
    { message: "No tool output found for custom tool call call_1.", param: "input", code: null },
  ],
  [
    "a custom output without its call",
    input(customOutput),
    { message: "No tool call found for custom tool call output with call_id call_1.", param: "input", code: null },
  ],
  [
    "a custom output for a function call",
    input(call, customOutput),
    { message: "No tool call found for custom tool call output with call_id call_1.", param: "input" },
  ],
  [
    "a function output for a custom call",
    input(custom, output),
    { message: "No tool call found for function call output with call_id call_1.", param: "input" },
  ],
  [
    "a custom call without input",
    input({ ...custom, input: undefined }, customOutput),
    { message: "Missing required parameter: 'input[1].input'.", code: "missing_required_parameter" },
  ],
  [
    "a custom call with the id of a function call",
    input({ ...custom, id: "fc_1" }, customOutput),
    { message: "Invalid 'input[1].id': 'fc_1'. Expected an ID that begins with 'ctc'.", code: "invalid_value" },
  ],
  [
    "a custom tool with parameters",
    { ...input(), tools: [{ ...customTool, parameters: {} }] },
    { message: "Unknown parameter: 'tools[0].parameters'.", code: "unknown_parameter" },
  ],
  [
    "a custom tool with a grammar of unknown syntax",
    { ...input(), tools: [{ ...customTool, format: { type: "grammar", syntax: "ebnf", definition: "a" } }] },
    { param: "tools[0].format.syntax", code: "invalid_value" },
  ],
  [
    "a custom tool for a model without custom tools",
    { ...input(), model: "gpt-4o", tools: [customTool] },
    { message: "Tool 'custom' is not supported with gpt-4o.", param: "tools" },
  ],
  [
    "a tool of unknown type",
    { ...input(), tools: [{ ...customTool, type: "freeform" }] },
    { message: expect.stringMatching(/^Invalid value: 'freeform'\. .*'custom'/), param: "tools[0].type" },
  ],
  ["a temperature of 3", { ...input(), temperature: 3 }, { code: "integer_above_max_value" }],
])("the Responses API refuses %s", async (_, body, error) => {
  const mock = await openMock();
  const response = await post(mock, "responses", { model: "gpt-5", ...body });
  expect(response.status).toBe(400);
  const answer = await response.json();
  expect(answer).toEqual({
    error: { message: expect.any(String), type: "invalid_request_error", ...paramAndCode, ...error },
  });
});

const paramAndCode = {
  param: expect.toSatisfy((value) => value === null || typeof value === "string"),
  code: expect.toSatisfy((value) => value === null || typeof value === "string"),
};

test("reasoning without encrypted content is not found when nothing is stored", async () => {
  const mock = await openMock();
  const body = {
    model: "gpt-5",
    store: false,
    ...input({ type: "reasoning", id: "rs_1", summary: [] }, assistantMessage),
  };
  const response = await post(mock, "responses", body);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    error: { message: expect.stringMatching(/^Item with id 'rs_1' not/) },
  });
});

test("a valid sequence of calls and outputs is accepted", async () => {
  const mock = await openMock();
  const body = { model: "gpt-5", ...input(assistantMessage, call, { ...call, call_id: "call_2" }, output) };
  const second = { ...output, call_id: "call_2", output: [{ type: "input_text", text: "ok" }] };
  const response = await post(mock, "responses", { ...body, input: [...body.input, second] });
  expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200 });
});
