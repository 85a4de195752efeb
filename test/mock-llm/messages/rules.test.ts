import { expect, test } from "vitest";
import { redactedData, signatureOf } from "../../../src/mock-llm/signatures.js";
import { openMock, paths, post } from "../../support/open-mock-llm.js";

const user = (...content: object[]) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const text = { type: "text", text: "hi" };
const redacted = (data: string) => ({ type: "redacted_thinking", data });
const use = (id: string) => ({ type: "tool_use", id, name: "shell", input: {} });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok" });
const messages = (...list: object[]) => ({ messages: [user(text), ...list] });
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const budget = { max_tokens: 5_000, thinking: { type: "enabled", budget_tokens: 1_024 } };
const missingThinking = (path: string, type: string) =>
  `${path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
const tools = [{ name: "shell", input_schema: { type: "object" } }];

const unanswered = (index: number, id: string) =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
const orphan = (path: string, id: string) =>
  `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;

test.each<[string, object, string]>([
  ["a tool_use without its result", messages(assistant(use("a"), use("b")), user(result("a"))), unanswered(1, "b")],
  ["a tool_use in the last message", messages(assistant(use("a"))), unanswered(1, "a")],
  [
    "an assistant prefill for a model that does not support it",
    { ...messages(assistant(text)), model: "claude-opus-4-6" },
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  ],
  ["a result after a text block", messages(assistant(use("a")), user(text, result("a"))), unanswered(1, "a")],
  ["a result without its tool_use", messages(assistant(text), user(result("a"))), orphan("messages.2.content.0", "a")],
  [
    "a second result of one tool_use",
    messages(assistant(use("a")), user(result("a"), result("a"))),
    "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
  ],
  [
    "a repeated tool_use id",
    messages(assistant(use("a")), user(result("a")), assistant(use("a")), user(result("a"))),
    "messages.3.content.0: `tool_use` ids must be unique",
  ],
  [
    "an empty text",
    messages(assistant({ type: "text", text: "" }), user(text)),
    "messages: text content blocks must be non-empty",
  ],
  [
    "a text of white space",
    messages(assistant({ type: "text", text: " \n" }), user(text)),
    "messages: text content blocks must contain non-whitespace text",
  ],
  [
    "a message without content",
    messages(assistant(), user(text)),
    "messages.1: all messages must have non-empty content except for the optional final assistant message",
  ],
  ["no messages", { messages: [] }, "messages: at least one message is required"],
  ["an assistant message first", { messages: [assistant(text)] }, 'messages: first message must use the "user" role'],
  [
    "a system message",
    messages({ role: "system", content: "x" }),
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  ],
  ["a wrong role", messages({ role: "tool", content: "x" }), "messages.1.role: Input should be 'user' or 'assistant'"],
  ["no max_tokens", { ...messages(), max_tokens: undefined }, "max_tokens: Field required"],
  ["an unknown parameter", { ...messages(), n: 2 }, "n: Extra inputs are not permitted"],
  [
    "an unknown parameter of a block",
    messages(assistant({ ...text, annotations: [] }), user(text)),
    "messages.1.content.0.text.annotations: Extra inputs are not permitted",
  ],
  ["a wrong type", { ...messages(), max_tokens: "many" }, "max_tokens: Input should be a valid number"],
  [
    "a tool_use id with a colon",
    messages(assistant(use("a:b")), user(result("a"))),
    "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  ],
  [
    "thinking with an invalid signature",
    messages(assistant({ type: "thinking", thinking: "Hm.", signature: "abc" }, text), user(text)),
    "messages.1.content.0: Invalid `signature` in `thinking` block",
  ],
  [
    "empty thinking",
    messages(assistant({ type: "thinking", thinking: "", signature: "" }, text), user(text)),
    "messages.1.content.0.thinking: each thinking block must contain thinking",
  ],
  [
    "redacted thinking at the end",
    messages(assistant(text, redacted(redactedData("Hm.", "claude"))), user(text)),
    "messages.1: The final block in an assistant message cannot be `redacted_thinking`.",
  ],
  [
    "redacted thinking with invalid data",
    messages(assistant(redacted("EmwKSG0u.abc"), text), user(text)),
    "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
  ],
  [
    "redacted thinking of another model",
    messages(assistant(redacted(redactedData("Hm.", "claude-other")), text), user(text)),
    "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
  ],
  [
    "a thinking budget above max_tokens",
    { ...messages(), thinking: { type: "enabled", budget_tokens: 4_096 } },
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
  ],
  [
    "two tools with one name",
    { ...messages(), tools: [1, 2].map(() => ({ name: "a", input_schema: { type: "object" } })) },
    "tools: Tool names must be unique.",
  ],
  [
    "a last assistant message with trailing white space",
    messages({ role: "assistant", content: "so " }),
    "messages: final assistant content cannot end with trailing whitespace",
  ],
  [
    "an empty text in a result",
    messages(assistant(use("a")), user({ ...result("a"), content: [{ type: "text", text: "" }] })),
    "messages: text content blocks must be non-empty",
  ],
  [
    "an image in an assistant message",
    messages(assistant(image), user(text)),
    "messages.1.content.0: `image` blocks can only be in `user` messages",
  ],
  [
    "an image of an unsupported type",
    messages(user({ ...image, source: { ...image.source, media_type: "image/bmp" } })),
    "messages.1.content.0.image.source.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
  ],
  [
    "a tool_use with an invalid name",
    messages(assistant({ ...use("a"), name: "a.b" }), user(result("a"))),
    "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'",
  ],
  [
    "tool_use blocks without tools",
    { ...messages(assistant(use("a")), user(result("a"))), tools: undefined },
    "Requests which include `tool_use` or `tool_result` blocks must define tools",
  ],
  [
    "a tool_use without thinking before it when thinking is enabled",
    { ...messages(assistant(use("a")), user(result("a"))), ...budget },
    missingThinking("messages.1.content.0", "tool_use"),
  ],
  [
    "the first of several tool_use messages without thinking when thinking is enabled",
    { ...messages(assistant(text, use("a")), user(result("a")), assistant(use("b")), user(result("b"))), ...budget },
    missingThinking("messages.1.content.0", "text"),
  ],
])("the Messages API refuses %s", async (_, body, message) => {
  const mock = await openMock();
  const response = await post(mock, "messages", { model: "claude", max_tokens: 100, tools, ...body });
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    type: "error",
    error: { type: "invalid_request_error", message },
    request_id: expect.stringMatching(/^req_/),
  });
});

test("consecutive messages of one role are one turn, and results may be in any order", async () => {
  const mock = await openMock();
  const list = messages(
    user(text),
    assistant(text),
    assistant(use("a"), use("b")),
    user(result("b")),
    user(result("a"), text),
  );
  const response = await post(mock, "messages", { model: "claude", max_tokens: 100, tools, ...list });
  expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200 });
});

test("thinking is accepted only for the model that produced it", async () => {
  const mock = await openMock();
  const thinking = { type: "thinking", thinking: "Hm.", signature: signatureOf("Hm.", "claude") };
  const list = messages(assistant(thinking, use("a")), user(result("a")));
  const status = async (model: string) => (await post(mock, "messages", { ...list, ...budget, tools, model })).status;
  expect([await status("claude"), await status("claude-2")]).toEqual([200, 400]);
});

test("the anthropic-version header is required", async () => {
  const { url } = await openMock();
  const response = await fetch(`${url}${paths.messages}`, { method: "POST", body: JSON.stringify(messages()) });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: "anthropic-version: header is required" } });
});
