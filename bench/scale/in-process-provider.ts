import { setImmediate, setTimeout } from "node:timers/promises";
import type { ModelEvent } from "../../src/messages/model.js";
import type { Provider } from "../../src/providers/provider.js";

const deltas = 200;
/** A read of a socket usually has several. */
const deltasPerRead = 10;
const word = "word ";
const usage = {
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: deltas,
  reasoning_output_tokens: 0,
  total_tokens: 10 + deltas,
};

/** Needs no server. The model's name is the delay between two deltas in milliseconds. */
export const inProcessProvider: Provider = {
  name: "in-process",
  stream: ({ model }, signal) => answer(Number(model), signal),
};

async function* answer(delayMs: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  for (let count = 0; count < deltas && !signal.aborted; count += 1) {
    if (delayMs > 0) await setTimeout(delayMs);
    else if (count % deltasPerRead === 0) await setImmediate();
    yield { type: "text_delta", itemId: "answer", delta: word };
  }
  const content = [{ type: "output_text" as const, text: word.repeat(deltas) }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "usage", usage };
  yield { type: "done", finishReason: "stop" };
}
