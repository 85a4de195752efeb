import { fieldsText } from "../json.js";
import type { MockReply } from "../script.js";
import type { Exchange } from "../wire-api.js";
import type { OutputItem } from "./items.js";

interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly OutputItem[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** The response object, which repeats the request's parameters. */
export function responseObject(id: string, state: ResponseState, exchange: Exchange) {
  const { begin, middle, last } = requestFields(exchange);
  return {
    ...headOf(id, state, exchange),
    ...begin,
    output: state.output,
    ...middle,
    usage: usageIn(state, exchange),
    ...last,
  };
}

/**
 * Returns the response object as text for any state. Three events of a stream repeat the request's parameters, so these
 * are encoded once.
 */
export function responseTexts(id: string, exchange: Exchange): (state: ResponseState) => string {
  const asked = requestFields(exchange);
  const [begin, middle, last] = [fieldsText(asked.begin), fieldsText(asked.middle), fieldsText(asked.last)];
  return (state) => {
    const head = fieldsText(headOf(id, state, exchange));
    const output = JSON.stringify(state.output);
    const usage = JSON.stringify(usageIn(state, exchange));
    return `{${head},${begin},"output":${output},${middle},"usage":${usage},${last}}`;
  };
}

function headOf(id: string, { status, error }: ResponseState, { createdAt }: Exchange) {
  return {
    id,
    object: "response",
    created_at: createdAt,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
  };
}

/** The fields that are the same in every state, grouped by their position among the others. */
function requestFields({ body, model }: Exchange) {
  const begin = {
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    model,
  };
  const middle = {
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
  };
  const last = { user: null, metadata: body["metadata"] ?? {} };
  return { begin, middle, last };
}

export function finalStatus(reply: MockReply): "completed" | "incomplete" {
  return reply.finish === "length" ? "incomplete" : "completed";
}

function usageIn({ status }: ResponseState, { usage }: Exchange) {
  if (status !== "completed" && status !== "incomplete") return null;
  return {
    input_tokens: usage.input_tokens,
    input_tokens_details: { cached_tokens: usage.cached_input_tokens },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_output_tokens },
    total_tokens: usage.total_tokens,
  };
}
