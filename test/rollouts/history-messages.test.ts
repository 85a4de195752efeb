import { expect, test } from "vitest";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { messagesOf, toolCallsOf } from "../../src/rollouts/history-messages.js";
import { assistant, user } from "../support/scripted-provider.js";

const image = { type: "input_image" as const, image_url: "data:image/png;base64,AAAA" };
const lookAt: ResponseItem = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "look" }, image, { type: "input_text", text: "at it" }],
};

function thought(text: string): ResponseItem {
  return { type: "reasoning", summary: [{ type: "summary_text", text }], encrypted_content: "opaque" };
}

function call(callId: string): ResponseItem {
  return { type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: callId };
}

function output(callId: string, text: string): ResponseItem {
  return { type: "function_call_output", call_id: callId, output: text };
}

test("user messages have attachments, assistant messages reasoning, and tool messages the tool's name", () => {
  const items = [
    lookAt,
    thought("a picture"),
    thought("of a cat"),
    call("c1"),
    output("c1", "a b"),
    assistant("A cat"),
  ];
  expect(messagesOf(items)).toEqual([
    { type: "user", content: "look\nat it", attachments: [image] },
    { type: "tool", call_id: "c1", name: "shell", result: "a b" },
    { type: "assistant", content: "A cat", reasoning: "a picture\nof a cat" },
  ]);
});

test("reasoning without a following answer becomes a message of its own", () => {
  expect(messagesOf([user("one"), thought("hm"), user("two"), thought("so")])).toEqual([
    { type: "user", content: "one", attachments: [] },
    { type: "assistant", content: "", reasoning: "hm" },
    { type: "user", content: "two", attachments: [] },
    { type: "assistant", content: "", reasoning: "so" },
  ]);
});

test("developer messages, snapshots and compactions are not messages", () => {
  const developer: ResponseItem = { type: "message", role: "developer", content: [{ type: "input_text", text: "Be" }] };
  const ghost: ResponseItem = { type: "ghost_snapshot", ghost_commit: { id: "c0ffee" } };
  expect(messagesOf([developer, ghost, { type: "compaction", encrypted_content: "…" }])).toEqual([]);
});

test("a call of any kind has its result, if there is one", () => {
  const custom: ResponseItem = { type: "custom_tool_call", name: "patch", input: "*** Begin", call_id: "c2" };
  const patched: ResponseItem = {
    type: "custom_tool_call_output",
    call_id: "c2",
    output: [{ type: "input_text", text: "ok" }, image],
  };
  const action = { type: "exec", command: ["ls"] };
  const shell: ResponseItem = { type: "local_shell_call", call_id: "c3", status: "completed", action };
  expect(toolCallsOf([call("c1"), output("c1", "a b"), custom, patched, shell])).toEqual([
    { call_id: "c1", name: "shell", arguments: '{"command":["ls"]}', result: "a b" },
    { call_id: "c2", name: "patch", arguments: "*** Begin", result: `ok\n${JSON.stringify(image)}` },
    { call_id: "c3", name: "local_shell", arguments: JSON.stringify(action) },
  ]);
});
