import { expect, test } from "vitest";
import { type ApiName, hello, openMock, post } from "../support/open-mock-llm.js";

const cached = { type: "text", text: "hi", cache_control: { type: "ephemeral" } };
const shell = { name: "shell", input_schema: { type: "object" } };
const adaptive = { model: "claude-opus-4-6", thinking: { type: "adaptive" } };
const json = (...words: string[]) => ({
  responses: { input: words.join(" "), text: { format: { type: "json_object" } } },
  chat: { messages: [{ role: "user", content: words.join(" ") }], response_format: { type: "json_object" } },
});

const refused: [string, ApiName, object, object][] = [
  [
    "a temperature for a reasoning model",
    "responses",
    { model: "gpt-5-mini", temperature: 0 },
    {
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
      param: "temperature",
      code: "unsupported_parameter",
    },
  ],
  [
    "a temperature for a reasoning model",
    "chat",
    { model: "o3", temperature: 0.2 },
    {
      message:
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      param: "temperature",
      code: "unsupported_value",
    },
  ],
  [
    "a top_p for a reasoning model",
    "chat",
    { model: "gpt-5", top_p: 0.9 },
    { message: "Unsupported parameter: 'top_p' is not supported with this model.", param: "top_p" },
  ],
  [
    "json_object without the word JSON in the input",
    "responses",
    json("a", "list").responses,
    {
      message:
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
      param: "input",
    },
  ],
  [
    "json_object without the word JSON in the input",
    "chat",
    json("a", "list").chat,
    {
      message: "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      param: "messages",
    },
  ],
  [
    "tool_choice without tools",
    "chat",
    { tool_choice: "auto" },
    { message: "'tool_choice' is only allowed when 'tools' are specified." },
  ],
  [
    "parallel_tool_calls without tools",
    "chat",
    { parallel_tool_calls: true },
    { message: "'parallel_tool_calls' is only allowed when 'tools' are specified." },
  ],
  [
    "tool_choice without tools",
    "messages",
    { tool_choice: { type: "auto" } },
    { message: "tool_choice: `tool_choice` may only be specified while providing `tools`." },
  ],
  [
    "more than four cached blocks",
    "messages",
    { system: [cached, cached], messages: [{ role: "user", content: [cached, cached, cached] }] },
    { message: "A maximum of 4 blocks with cache_control may be provided. Found 5." },
  ],
  [
    "thinking with a forced tool call",
    "messages",
    { ...adaptive, tools: [shell], tool_choice: { type: "any" } },
    { message: "Thinking may not be enabled when tool_choice forces tool use." },
  ],
  [
    "a temperature with thinking",
    "messages",
    { ...adaptive, temperature: 0.5 },
    { message: "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode." },
  ],
];

test.each(refused)("%s is refused by %s", async (_name, api, options, error) => {
  const mock = await openMock();
  const response = await post(mock, api, { ...hello(api), ...options });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", ...error } });
});

test.each<[string, ApiName, object]>([
  ["a temperature", "responses", { model: "gpt-5.1", temperature: 0 }],
  ["a temperature", "chat", { model: "gpt-4o", temperature: 0.2 }],
  ["json_object with the word JSON in the input", "responses", json("a list as JSON").responses],
  ["json_object with the word JSON in the input", "chat", json("a list as json").chat],
  ["tool_choice none without tools", "chat", { tool_choice: "none" }],
  [
    "four cached blocks",
    "messages",
    { system: [cached, cached], messages: [{ role: "user", content: [cached, cached] }] },
  ],
  ["temperature 1 with thinking", "messages", { ...adaptive, temperature: 1 }],
])("%s is accepted by %s", async (_name, api, options) => {
  const mock = await openMock();
  expect((await post(mock, api, { ...hello(api), ...options })).status).toBe(200);
});
