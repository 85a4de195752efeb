import type { MockReply } from "../script.js";
import type { Exchange } from "../wire-api.js";
import { contentBlocks } from "./blocks.js";

/** A message in one piece. */
export function wholeMessage(reply: MockReply, exchange: Exchange): object {
  const begun = emptyMessage(exchange);
  const content = contentBlocks(reply, exchange);
  exchange.remember(begun.id, content);
  return {
    ...begun,
    content,
    stop_reason: stopReason(reply),
    usage: { ...startUsage(exchange), output_tokens: exchange.usage.output_tokens },
  };
}

export function emptyMessage({ ids, model }: Exchange) {
  return {
    id: ids.next("msg_01"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

export function stopReason(reply: MockReply): string {
  if (reply.finish === "length") return "max_tokens";
  return (reply.calls ?? []).length > 0 ? "tool_use" : "end_turn";
}

/** Input read from the cache is not counted as input here. */
export function startUsage({ usage }: Exchange) {
  return {
    input_tokens: Math.max(0, usage.input_tokens - usage.cached_input_tokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached_input_tokens,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: Math.min(1, usage.output_tokens),
    service_tier: "standard",
  };
}
