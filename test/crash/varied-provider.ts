import { setImmediate } from "node:timers/promises";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import { messageText } from "../../src/messages/response-item.js";
import type { Provider } from "../../src/providers/provider.js";
import { answerTo } from "./question.js";

const deltasPerAnswer = 24;

/** A provider whose answers are a few bytes to hundreds of kilobytes long, as the question asks. */
export const variedProvider: Provider = { name: "varied", stream: answer };

async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const question = request.input.findLast((item) => item.type === "message" && item.role === "user");
  const text = answerTo(question?.type === "message" ? messageText(question) : "");
  const size = Math.ceil(text.length / deltasPerAnswer);
  for (let from = 0; from < text.length; from += size) {
    yield { type: "text_delta", itemId: "answer", delta: text.slice(from, from + size) };
    await setImmediate();
    if (signal.aborted) return;
  }
  const content = [{ type: "output_text" as const, text }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "done", finishReason: "stop" };
}
