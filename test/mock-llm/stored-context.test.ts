import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import OpenAI from "openai";
import { expect, test } from "vitest";
import * as z from "zod";
import type { MockLlm } from "../../src/mock-llm/server.js";
import { openMock } from "../support/open-mock-llm.js";

const model = "gpt-5";
const call = { name: "look", arguments: "{broken", id: "call_1" };
const lookOutput = { type: "function_call_output" as const, call_id: "call_1", output: "seen" };

function openAi({ url }: MockLlm): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "test", maxRetries: 0 });
}

function anthropic({ url }: MockLlm): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: "test", maxRetries: 0 });
}

test("previous_response_id continues a stored response, streamed or not", async () => {
  const { responses } = openAi(await openMock());
  const first = await responses.create({ model, input: "My name is Alice." });
  const streamed = responses.stream({ model, input: "What is 2 + 3?", previous_response_id: first.id });
  const { id } = await streamed.finalResponse();
  const last = await responses.create({ model, input: "What is my name?", previous_response_id: id });
  expect(last).toMatchObject({ previous_response_id: id, output_text: expect.stringContaining("Alice") });
});

test("tool outputs must match the calls of the previous response", async () => {
  const mock = await openMock({ script: [{ reasoning: "hm", calls: [call] }, { text: "ok" }] });
  const { responses } = openAi(mock);
  const { id } = await responses.create({ model, input: "look", reasoning: { summary: "auto" } });
  const other = { ...lookOutput, call_id: "call_2" };
  await expect(responses.create({ model, input: [other], previous_response_id: id })).rejects.toThrow(
    "400 No tool call found for function call output with call_id call_2.",
  );
  await expect(responses.create({ model, input: "go on", previous_response_id: id })).rejects.toThrow(
    "400 No tool output found for function call call_1.",
  );
  const { output_text: text } = await responses.create({ model, input: [lookOutput], previous_response_id: id });
  expect(text).toBe("ok");
});

test("a response that was not stored cannot be continued, and a request needs an input", async () => {
  const { responses } = openAi(await openMock());
  const { id } = await responses.create({ model, input: "hello", store: false });
  await expect(responses.create({ model, input: "more", previous_response_id: id })).rejects.toMatchObject({
    status: 400,
    code: "previous_response_not_found",
    message: `400 Previous response with id '${id}' not found.`,
  });
  await expect(responses.create({ model })).rejects.toMatchObject({ status: 400, param: "input" });
});

test("the tool runner of Anthropic's SDK, which sends only new messages, completes", async () => {
  const calls = [{ name: "look", arguments: { at: "a" } }];
  const mock = await openMock({ script: [{ text: "I look.", calls }, { calls }, { text: "done" }] });
  const look = betaZodTool({
    name: "look",
    description: "looks",
    inputSchema: z.object({ at: z.string() }),
    run: ({ at }) => `seen ${at}`,
  });
  const { content } = await anthropic(mock).beta.messages.toolRunner({
    model: "claude-opus-4-6",
    max_tokens: 100,
    system: "be brief",
    tools: [look],
    messages: [{ role: "user", content: "look" }],
  });
  expect(content).toMatchObject([{ type: "text", text: "done" }]);
  const sent = mock.requests.map(({ body, status }) => ({ status, ...(body as { messages: unknown[] }) }));
  expect(sent.map(({ status, messages }) => [status, messages.length])).toEqual([
    [200, 1],
    [200, 1],
    [200, 1],
  ]);
});

test("an unknown thread is not found, and threads need the beta header", async () => {
  const { beta } = anthropic(await openMock());
  const request = { model: "claude-opus-4-6", max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] };
  const betas = ["message-threads-2026-08-12"];
  const thread = { type: "continue" as const, previous_message_id: "msg_none" };
  await expect(beta.messages.create({ ...request, betas, thread })).rejects.toMatchObject({
    status: 404,
    error: { error: { type: "not_found_error", details: { error_code: "thread_not_found" } } },
  });
  await expect(beta.messages.create({ ...request, thread: { type: "create" } })).rejects.toThrow(
    "thread: Extra inputs are not permitted",
  );
});
