import type { ModelEvent } from "../../../src/messages/model.js";

/** One server-sent event as the Messages API writes it. */
export function eventOf(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

export function start(): string {
  const usage = {
    input_tokens: 12,
    cache_creation_input_tokens: 3,
    cache_read_input_tokens: 100,
    output_tokens: 1,
  };
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], stop_reason: null, usage };
  return eventOf({ type: "message_start", message });
}

export function blockStart(index: number, content_block: object): string {
  return eventOf({ type: "content_block_start", index, content_block });
}

export function delta(index: number, change: object): string {
  return eventOf({ type: "content_block_delta", index, delta: change });
}

export function stop(index: number): string {
  return eventOf({ type: "content_block_stop", index });
}

export function ending(stop_reason: string): string {
  const usage = { output_tokens: 40, output_tokens_details: { thinking_tokens: 9 } };
  const end = { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage };
  return eventOf(end) + eventOf({ type: "message_stop" });
}

/** An answer with thinking, text and tool calls, in the form of the API's own examples. */
export const recorded = [
  start(),
  blockStart(0, { type: "thinking", thinking: "", signature: "" }),
  eventOf({ type: "ping" }),
  delta(0, { type: "thinking_delta", thinking: "Both files, " }),
  delta(0, { type: "thinking_delta", thinking: "at once – ü." }),
  delta(0, { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds=" }),
  stop(0),
  blockStart(1, { type: "text", text: "" }),
  delta(1, { type: "text_delta", text: "I read " }),
  delta(1, { type: "text_delta", text: "both 👀." }),
  stop(1),
  blockStart(2, { type: "tool_use", id: "toolu_1", name: "read_file", input: {} }),
  delta(2, { type: "input_json_delta", partial_json: "" }),
  delta(2, { type: "input_json_delta", partial_json: '{"path": "a' }),
  delta(2, { type: "input_json_delta", partial_json: '.txt"}' }),
  stop(2),
  blockStart(3, { type: "tool_use", id: "toolu_2", name: "list", input: {} }),
  stop(3),
  ending("tool_use"),
].join("");

export function recordedEvents(model: string): ModelEvent[] {
  return [
    { type: "reasoning_delta", itemId: "msg_1_0", delta: "Both files, " },
    { type: "reasoning_delta", itemId: "msg_1_0", delta: "at once – ü." },
    {
      type: "item",
      itemId: "msg_1_0",
      item: {
        type: "reasoning",
        summary: [],
        content: [{ type: "reasoning_text", text: "Both files, at once – ü." }],
        encrypted_content: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds=",
        origin: { api: "messages", model },
      },
    },
    { type: "text_delta", itemId: "msg_1_1", delta: "I read " },
    { type: "text_delta", itemId: "msg_1_1", delta: "both 👀." },
    {
      type: "item",
      itemId: "msg_1_1",
      item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "I read both 👀." }] },
    },
    { type: "tool_call_start", itemId: "msg_1_2", callId: "toolu_1", name: "read_file" },
    { type: "tool_call_delta", itemId: "msg_1_2", delta: '{"path": "a' },
    { type: "tool_call_delta", itemId: "msg_1_2", delta: '.txt"}' },
    {
      type: "item",
      itemId: "msg_1_2",
      item: { type: "function_call", name: "read_file", arguments: '{"path": "a.txt"}', call_id: "toolu_1" },
    },
    { type: "tool_call_start", itemId: "msg_1_3", callId: "toolu_2", name: "list" },
    {
      type: "item",
      itemId: "msg_1_3",
      item: { type: "function_call", name: "list", arguments: "{}", call_id: "toolu_2" },
    },
    {
      type: "usage",
      usage: {
        input_tokens: 115,
        cached_input_tokens: 100,
        output_tokens: 40,
        reasoning_output_tokens: 9,
        total_tokens: 155,
      },
    },
    { type: "done", finishReason: "tool_calls" },
  ];
}
