import { setTimeout } from "node:timers/promises";
import type { ModelEvent } from "../../src/messages/model.js";
import type { Provider } from "../../src/providers/provider.js";

const deltas = 100;
const usage = {
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: deltas,
  reasoning_output_tokens: 0,
  total_tokens: 10 + deltas,
};

/** A provider that streams one word every `paceMs` milliseconds. */
export function pacedProvider(paceMs: number): Provider {
  return { name: "paced", stream: (_request, signal) => answer(paceMs, signal) };
}

async function* answer(paceMs: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  for (let count = 0; count < deltas; count += 1) {
    await setTimeout(paceMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    yield { type: "text_delta", itemId: "answer", delta: "word " };
  }
  const content = [{ type: "output_text" as const, text: "word ".repeat(deltas) }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "usage", usage };
  yield { type: "done", finishReason: "stop" };
}
