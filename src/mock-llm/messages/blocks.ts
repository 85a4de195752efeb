import { argumentsOf } from "../call-arguments.js";
import { objectOf } from "../json.js";
import type { MockCall, MockReply } from "../script.js";
import { signatureOf } from "../seal.js";
import { partsOf } from "../split-deltas.js";
import type { Exchange } from "../wire-api.js";

/** The content of an answer. `json` is what a call's input is streamed as. */
export function contentBlocks(reply: MockReply, exchange: Exchange) {
  const { text, reasoning } = partsOf(reply);
  const calls = reply.calls ?? [];
  return [
    ...(reasoning !== "" && asksForThinking(exchange)
      ? [{ type: "thinking" as const, thinking: reasoning, signature: signatureOf(reasoning, exchange.model) }]
      : []),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map((call) => ({
      type: "tool_use" as const,
      id: call.id ?? exchange.ids.next("toolu_01"),
      name: call.name,
      input: inputOf(call),
    })),
  ];
}

export type ContentBlock = ReturnType<typeof contentBlocks>[number];

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
