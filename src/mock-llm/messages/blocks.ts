import { argumentsOf } from "../call-arguments.js";
import { objectOf } from "../json.js";
import type { MockCall, MockReply } from "../script.js";
import { redactedData, signatureOf } from "../seal.js";
import { partsOf } from "../split-deltas.js";
import type { Exchange } from "../wire-api.js";
import { ledUseId } from "./led-uses.js";

/** The content of an answer. `json` is what a call's input is streamed as. */
export function contentBlocks(reply: MockReply, exchange: Exchange) {
  const { text } = partsOf(reply);
  const calls = reply.calls ?? [];
  const thoughts = asksForThinking(exchange) ? thoughtBlocks(reply, exchange) : [];
  return [
    ...thoughts,
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map((call) => ({
      type: "tool_use" as const,
      id: call.id ?? ledUseId(exchange.ids.next("toolu_01"), thoughts),
      name: call.name,
      input: inputOf(call),
    })),
  ];
}

export type ContentBlock = ReturnType<typeof contentBlocks>[number];

function thoughtBlocks(reply: MockReply, { model }: Exchange) {
  const { reasoning: thinking } = partsOf(reply);
  const { redacted } = reply;
  return [
    ...(thinking === "" ? [] : [{ type: "thinking" as const, thinking, signature: signatureOf(thinking, model) }]),
    ...(redacted === undefined ? [] : [{ type: "redacted_thinking" as const, data: redactedData(redacted, model) }]),
  ];
}

/** The whole answer needs an object, whatever the script has written. */
function inputOf(call: MockCall): unknown {
  try {
    return JSON.parse(argumentsOf(call));
  } catch {
    return {};
  }
}

function asksForThinking({ body, unasked }: Exchange): boolean {
  const type = objectOf(body["thinking"])["type"];
  return unasked || type === "enabled" || type === "adaptive";
}
