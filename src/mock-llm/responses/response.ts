import type { MockReply } from "../script.js";
import type { Exchange } from "../wire-api.js";
import type { OutputItem } from "./items.js";

export interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly OutputItem[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** The response object: what was asked comes back in it. */
export function responseObject(id: string, { status, output, error }: ResponseState, exchange: Exchange) {
  const { body, createdAt, model, usage } = exchange;
  const isOver = status === "completed" || status === "incomplete";
  return {
    id,
    object: "response",
    created_at: createdAt,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    model,
    output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: body["previous_response_id"] ?? null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    reasoning: body["reasoning"] ?? { effort: null, summary: null },
    service_tier: "default",
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    text: body["text"] ?? { format: { type: "text" } },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    usage: isOver ? usageObject(usage) : null,
    user: null,
    metadata: body["metadata"] ?? {},
  };
}

export function finalStatus(reply: MockReply): "completed" | "incomplete" {
  return reply.finish === "length" ? "incomplete" : "completed";
}

function usageObject(usage: Exchange["usage"]) {
  return {
    input_tokens: usage.input_tokens,
    input_tokens_details: { cached_tokens: usage.cached_input_tokens },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_output_tokens },
    total_tokens: usage.total_tokens,
  };
}
