import { type Answer, AnswerBuilder, namedEvent } from "../answer.js";
import { argumentsOf } from "../call-arguments.js";
import type { MockReply } from "../script.js";
import { argumentPieces, partsOf } from "../split-deltas.js";
import type { Exchange } from "../wire-api.js";
import { type ContentBlock, contentBlocks } from "./blocks.js";
import { emptyMessage, startUsage, stopReason } from "./message.js";

export const ping = 'event: ping\ndata: {"type": "ping"}\n\n';

/** The events of a message. */
export function streamedMessage(reply: MockReply, exchange: Exchange): Answer {
  const answer = new AnswerBuilder();
  const send = (type: string, fields: object): void => answer.event(event(type, fields));
  const begun = emptyMessage(exchange);
  const content = contentBlocks(reply, exchange);
  exchange.remember(begun.id, content);
  send("message_start", { message: { ...begun, usage: startUsage(exchange) } });
  let calls = 0;
  for (const [index, block] of content.entries()) {
    send("content_block_start", { index, content_block: opened(block) });
    if (index === 0) answer.event(ping);
    const call = block.type === "tool_use" ? reply.calls?.[calls] : undefined;
    if (call !== undefined) calls += 1;
    const [type, field, deltas] = deltasOf(block, reply, call === undefined ? "" : argumentsOf(call));
    const start = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":`;
    answer.deltas(deltas, (delta) => `${start}${delta}}}\n\n`);
    if (block.type === "thinking") {
      send("content_block_delta", { index, delta: { type: "signature_delta", signature: block.signature } });
    }
    send("content_block_stop", { index });
  }
  const { cache_creation_input_tokens, cache_read_input_tokens, input_tokens } = startUsage(exchange);
  const { output_tokens } = exchange.usage;
  send("message_delta", {
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens },
  });
  return answer.finish(event("message_stop", {}));
}

function opened(block: ContentBlock): object {
  if (block.type === "thinking") return { ...block, thinking: "", signature: "" };
  if (block.type === "text") return { ...block, text: "" };
  // It comes at once.
  if (block.type === "redacted_thinking") return block;
  return { ...block, input: {} };
}

function deltasOf(block: ContentBlock, reply: MockReply, json: string): [string, string, readonly string[]] {
  const { textDeltas, reasoningDeltas } = partsOf(reply);
  if (block.type === "thinking") return ["thinking_delta", "thinking", reasoningDeltas];
  if (block.type === "text") return ["text_delta", "text", textDeltas];
  if (block.type === "redacted_thinking") return ["", "", []];
  // The API begins every input with an empty piece.
  return ["input_json_delta", "partial_json", ["", ...argumentPieces(json)].map((piece) => JSON.stringify(piece))];
}

function event(type: string, fields: object): string {
  return namedEvent({ type, ...fields });
}
