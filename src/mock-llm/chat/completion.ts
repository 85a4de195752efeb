import { argumentsOf } from "../call-arguments.js";
import type { MockReply } from "../script.js";
import { partsOf } from "../split-deltas.js";
import type { Exchange } from "../wire-api.js";

/** A chat completion in one piece. */
export function wholeCompletion(reply: MockReply, exchange: Exchange): object {
  const { ids, createdAt, model } = exchange;
  const { text, reasoning } = partsOf(reply);
  const calls = (reply.calls ?? []).map((call) => ({
    id: call.id ?? ids.next("call_"),
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
  const message = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    annotations: [],
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id: ids.next("chatcmpl-"),
    object: "chat.completion",
    created: createdAt,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    usage: usageObject(exchange.usage),
    service_tier: "default",
    system_fingerprint: "fp_mock",
  };
}

export function finishReason(reply: MockReply): string {
  if (reply.finish === "length") return "length";
  return (reply.calls ?? []).length > 0 ? "tool_calls" : "stop";
}

export function usageObject(usage: Exchange["usage"]) {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning_output_tokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
