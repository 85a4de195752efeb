import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import type { Provider } from "../../src/providers/provider.js";

/** The events of one scripted model call; `hang` waits until the turn is aborted. */
export type Reply = readonly (ModelEvent | { readonly type: "hang" })[];

export interface ScriptedProvider extends Provider {
  readonly requests: ModelRequest[];
}

/** A provider that answers each call with the next reply of the script. */
export function scripted(replies: Iterable<Reply>): ScriptedProvider {
  const requests: ModelRequest[] = [];
  const next = replies[Symbol.iterator]();
  return {
    name: "scripted",
    requests,
    async *stream(request, signal) {
      requests.push(request);
      const reply = next.next();
      if (reply.done === true) throw new Error("the script has no more replies");
      for (const event of reply.value) {
        if (event.type === "hang") {
          if (!signal.aborted)
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          return;
        }
        yield event;
      }
    },
  };
}

const usage = {
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: 5,
  reasoning_output_tokens: 0,
  total_tokens: 15,
};

/** A text answer in two deltas. */
export function says(text: string): Reply {
  const half = Math.floor(text.length / 2);
  return [
    { type: "text_delta", itemId: "item", delta: text.slice(0, half) },
    { type: "text_delta", itemId: "item", delta: text.slice(half) },
    { type: "item", itemId: "item", item: assistant(text) },
    { type: "usage", usage },
    { type: "done", finishReason: "stop" },
  ];
}

/** An answer with one tool call and no text. */
export function calls(name: string, callId: string, args: unknown = {}): Reply {
  const item: ResponseItem = { type: "function_call", name, arguments: JSON.stringify(args), call_id: callId };
  return [
    { type: "item", itemId: "call", item },
    { type: "usage", usage },
    { type: "done", finishReason: "tool_calls" },
  ];
}

/** An answer that starts and never ends. */
export function beginsAndHangs(text: string): Reply {
  return [{ type: "text_delta", itemId: "item", delta: text }, { type: "hang" }];
}

export function fails(code: "network" | "auth" | "overloaded", retryable: boolean): Reply {
  return [{ type: "failed", failure: { code, message: `the model failed: ${code}`, retryable } }];
}

export function assistant(text: string): ResponseItem {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

export function user(text: string): ResponseItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

/** An answer with several tool calls. */
export function callsAll(...all: readonly { name: string; callId: string; arguments: string }[]): Reply {
  return [
    ...all.map(({ name, callId, arguments: text }, index): ModelEvent => ({
      type: "item",
      itemId: `call_${index}`,
      item: { type: "function_call", name, arguments: text, call_id: callId },
    })),
    { type: "usage", usage },
    { type: "done", finishReason: "tool_calls" },
  ];
}
