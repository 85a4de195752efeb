import { expect, test } from "vitest";
import { openMock, post } from "../../support/open-mock-llm.js";

const user = { role: "user", content: "hi" };
const call = (id: string) => ({ id, type: "function", function: { name: "shell", arguments: "{}" } });
const calls = (...ids: string[]) => ({ role: "assistant", content: null, tool_calls: ids.map(call) });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
const messages = (...list: object[]) => ({ messages: [user, ...list] });

const unanswered =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ";
const orphan =
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";

test.each<[string, object, object]>([
  [
    "a tool call without its output",
    messages(calls("a", "b"), result("a")),
    { message: `${unanswered}b`, param: "messages" },
  ],
  ["an output after a later user message", messages(calls("a"), user, result("a")), { message: `${unanswered}a` }],
  ["an output without its call", messages(result("a")), { message: orphan, param: "messages.[1].role" }],
  ["a second output of one call", messages(calls("a"), result("a"), result("a")), { message: orphan }],
  [
    "a repeated call id",
    messages(calls("a"), result("a"), calls("a"), result("a")),
    { message: expect.stringContaining("Duplicate") },
  ],
  [
    "an assistant message without content and calls",
    messages({ role: "assistant", content: null }),
    { message: "Invalid value for 'content': expected a string, got null.", param: "messages.[1].content" },
  ],
  [
    "an empty list of tool calls",
    messages({ role: "assistant", content: "x", tool_calls: [] }),
    {
      message:
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      code: "empty_array",
    },
  ],
  ["no messages", { messages: [] }, { code: "empty_array" }],
  [
    "a wrong role",
    messages({ role: "model", content: "x" }),
    {
      message:
        "Invalid value: 'model'. Supported values are: 'system', 'developer', 'user', 'assistant', 'tool', and 'function'.",
      param: "messages[1].role",
      code: "invalid_value",
    },
  ],
  [
    "an unknown argument",
    { ...messages(), thinking: {} },
    { message: "Unrecognized request argument supplied: thinking", param: null, code: null },
  ],
  [
    "an unknown parameter of a message",
    messages({ role: "assistant", content: "x", reasoning_content: "y" }),
    { message: "Unknown parameter: 'messages[1].reasoning_content'.", code: "unknown_parameter" },
  ],
  [
    "stream_options without a stream",
    { ...messages(), stream_options: { include_usage: true } },
    { param: "stream_options" },
  ],
  [
    "max_tokens for a reasoning model",
    { ...messages(), model: "gpt-5", max_tokens: 100 },
    {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: "max_tokens",
      code: "unsupported_parameter",
    },
  ],
  [
    "arguments that are not a JSON object",
    messages(
      { ...calls("a"), tool_calls: [{ ...call("a"), function: { name: "shell", arguments: '{"a": ' } }] },
      result("a"),
    ),
    { param: "messages.[1].tool_calls.[0].function.arguments" },
  ],
  [
    "an image of an unsupported type",
    messages({ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/bmp;base64,AA" } }] }),
    { param: "messages[1].content[0].image_url.url", code: "invalid_value" },
  ],
  ["a message without content", messages({ role: "user" }), { code: "missing_required_parameter" }],
  ["null content of a user message", messages({ role: "user", content: null }), { code: "invalid_type" }],
])("the Chat API refuses %s", async (_, body, error) => {
  const mock = await openMock();
  const response = await post(mock, "chat", { model: "gpt-4o", ...body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", ...error } });
});

test("reasoning_content is accepted for other models and refused for OpenAI's", async () => {
  const mock = await openMock();
  const withReasoning = { role: "assistant", content: "x", reasoning_content: "y" };
  const body = messages(withReasoning, { role: "user", content: "hi" });
  expect((await post(mock, "chat", { ...body, model: "deepseek-chat" })).status).toBe(200);
  expect((await post(mock, "chat", { ...body, model: "gpt-5" })).status).toBe(400);
});

test("a valid sequence of calls and outputs is accepted", async () => {
  const mock = await openMock();
  const list = messages({ role: "developer", content: "Be brief." }, calls("a", "b"), result("b"), result("a"), user);
  expect((await post(mock, "chat", { model: "gpt-4o", max_tokens: 100, ...list })).status).toBe(200);
  expect((await post(mock, "chat", { model: "o3", max_completion_tokens: 100, ...list })).status).toBe(200);
});
