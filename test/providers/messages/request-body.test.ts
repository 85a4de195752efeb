import type Anthropic from "@anthropic-ai/sdk";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../../src/messages/model.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { anthropicRequest } from "../../../src/providers/messages/request-body.js";
import { anyHistory, model } from "../normalize/histories.js";
import { assistant, requestOf, user } from "../requests.js";

describe("the messages", () => {
  test("of any history are accepted by the API", () => {
    fc.assert(
      fc.property(anyHistory, (items) => {
        expect(problemsIn(messagesOf(items))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("have thinking, text and tool calls in one message, and the results first in the next", () => {
    const items = [
      user("look"),
      reasoning("hm\n", "signed"),
      assistant("I look."),
      call("a", '{"path":"x"}'),
      call("b", ""),
      output("a", "text"),
      output("b", ""),
      user("and?"),
    ];
    expect(messagesOf(items)).toEqual([
      { role: "user", content: [{ type: "text", text: "look" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm\n", signature: "signed" },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "a", name: "read_file", input: { path: "x" } },
          { type: "tool_use", id: "b", name: "read_file", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "text" },
          { type: "tool_result", tool_use_id: "b" },
          { type: "text", text: "and?", cache_control: { type: "ephemeral" } },
        ],
      },
    ]);
  });

  test("have redacted thinking unchanged", () => {
    const redacted: ResponseItem = {
      type: "reasoning",
      summary: [],
      encrypted_content: "sealed",
      origin: { api: "messages", model },
    };
    expect(messagesOf([user("a"), redacted, assistant("b"), user("c")])[1]?.content[0]).toEqual({
      type: "redacted_thinking",
      data: "sealed",
    });
  });

  test("have images inline and by URL", () => {
    const content = ["data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.png"].map((image_url) => ({
      type: "input_image" as const,
      image_url,
    }));
    expect(messagesOf([{ type: "message", role: "user", content }, user("see")])[0]?.content.slice(0, 2)).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
    ]);
  });

  test.each([
    ["[1]", { arguments: "[1]" }],
    ['{"half', { arguments: '{"half' }],
    ['{"a":"\\ud83d"}', { a: "\ufffd" }],
    ['{"a":[{"\\ud83d":1}]}', { a: [{ "\ufffd": 1 }] }],
    ['{"__proto__":{"x":1}}', JSON.parse('{"__proto__":{"x":1}}')],
  ])("have an input object for the arguments %s", (args, input) => {
    const messages = messagesOf([user("go"), call("a", args), output("a", "no")]);
    expect(messages[1]?.content[0]).toEqual({ type: "tool_use", id: "a", name: "read_file", input });
  });
});

describe("thinking", () => {
  test.each([
    ["claude-opus-4-5", { max_tokens: 32_768, thinking: { type: "enabled", budget_tokens: 16_384 } }],
    ["claude-haiku-4-5-20251001", { max_tokens: 32_768, thinking: { type: "enabled", budget_tokens: 16_384 } }],
    ["claude-opus-4-20250514", { max_tokens: 32_768, thinking: { type: "enabled", budget_tokens: 16_384 } }],
    ["some-other-model", { max_tokens: 32_768, thinking: { type: "enabled", budget_tokens: 16_384 } }],
    ["claude-opus-4-6", { max_tokens: 32_768, thinking: adaptive, output_config: { effort: "high" } }],
    ["anthropic/claude-sonnet-4.6", { max_tokens: 32_768, thinking: adaptive, output_config: { effort: "high" } }],
    ["claude-sonnet-5", { max_tokens: 32_768, thinking: adaptive, output_config: { effort: "high" } }],
    ["claude-mythos-preview", { max_tokens: 32_768, thinking: adaptive, output_config: { effort: "high" } }],
  ])("for %s is requested in the form the model takes", (name, expected) => {
    expect(anthropicRequest(modelRequest([user("go")], { model: name, effort: "high" }))).toMatchObject(expected);
  });

  test.each([undefined, null, "none", "constructor"])("is not requested for the effort %s", (effort) => {
    const request = anthropicRequest(modelRequest([user("go")], { effort }));
    expect(request).toMatchObject({ max_tokens: 16_384 });
    expect(request).not.toHaveProperty("thinking");
  });

  test("is not requested while tool calls made without it are being answered", () => {
    const open = [user("go"), call("a", "{}"), output("a", "done")];
    expect(anthropicRequest(modelRequest(open, { effort: "low" }))).not.toHaveProperty("thinking");
    const thought = [user("go"), reasoning("hm", "signed"), ...open.slice(1)];
    expect(anthropicRequest(modelRequest(thought, { effort: "low" }))).toHaveProperty("thinking");
    expect(anthropicRequest(modelRequest([...open, user("next")], { effort: "low" }))).not.toHaveProperty("thinking");
    const again = [...open, user("next"), reasoning("hm", "signed"), call("b", "{}"), output("b", "done")];
    expect(anthropicRequest(modelRequest(again, { effort: "low" }))).not.toHaveProperty("thinking");
    const answered = [...open, assistant("done"), ...again.slice(3)];
    expect(anthropicRequest(modelRequest(answered, { effort: "low" }))).toHaveProperty("thinking");
  });
});

test.each(["claude-opus-4-5", "claude-opus-4-6"])("thinking is not requested for a short answer of %s", (name) => {
  const request = anthropicRequest(modelRequest([user("go")], { model: name, effort: "high", maxOutputTokens: 4_096 }));
  expect(request).toMatchObject({ max_tokens: 4_096 });
  expect(request).not.toHaveProperty("thinking");
  expect(request).not.toHaveProperty("output_config");
});

test("empty instructions and tools are left out of the request", () => {
  const request = anthropicRequest({ ...modelRequest([user("go")]), instructions: "" });
  expect(Object.keys(request).toSorted()).toEqual(["max_tokens", "messages", "model", "stream"]);
});

const adaptive = { type: "adaptive", display: "summarized" };

type Message = { readonly role: string; readonly content: readonly Anthropic.ContentBlockParam[] };

function modelRequest(items: readonly ResponseItem[], change: Partial<ModelRequest> = {}): ModelRequest {
  return { ...requestOf(items), model, ...change };
}

function messagesOf(items: readonly ResponseItem[]): Message[] {
  return anthropicRequest(modelRequest(items)).messages as unknown as Message[];
}

/** The problems for which the API would refuse these messages. */
function problemsIn(messages: readonly Message[]): string[] {
  const found: string[] = [];
  if (messages[0]?.role !== "user") found.push("does not begin with the user");
  if (messages.at(-1)?.role !== "user") found.push("does not end with the user");
  if (/\\ud[89a-f]/.test(JSON.stringify(messages))) found.push("half a character");
  let asked: string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (role === messages[index - 1]?.role) found.push("two messages of one role");
    if (content.length === 0) found.push("empty message");
    if (content.some((block) => block.type === "text" && block.text.trim() === "")) found.push("empty text");
    const results = content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
    if (content.slice(0, results.length).some(({ type }) => type !== "tool_result")) found.push("late results");
    if (results.toSorted().join() !== asked.toSorted().join())
      found.push(`asked ${asked.join()}, got ${results.join()}`);
    asked = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    if (content.at(-1)?.type.endsWith("thinking")) found.push("ends with thinking");
  }
  return found;
}

function reasoning(text: string, signature: string): ResponseItem {
  const content = [{ type: "reasoning_text" as const, text }];
  const origin = { api: "messages" as const, model };
  return { type: "reasoning", summary: [], content, encrypted_content: signature, origin };
}

function call(call_id: string, args: string): ResponseItem {
  return { type: "function_call", name: "read_file", arguments: args, call_id };
}

function output(call_id: string, text: string): ResponseItem {
  return { type: "function_call_output", call_id, output: text };
}
