import type { TokenUsage } from "../messages/token-usage.js";
import { argumentsOf } from "./call-arguments.js";
import type { MockReply } from "./script.js";
import { partsOf } from "./split-deltas.js";

const charsPerToken = 4;

/** The numbers of the script; what it does not say is estimated. */
export function usageOf(reply: MockReply, requestBytes: number): TokenUsage {
  const { text, reasoning } = partsOf(reply);
  const calls = (reply.calls ?? []).map((call) => call.name + argumentsOf(call));
  const { usage = {} } = reply;
  const input_tokens = usage.input_tokens ?? tokens(requestBytes);
  const reasoning_output_tokens = usage.reasoning_output_tokens ?? tokens(reasoning.length);
  const output_tokens = usage.output_tokens ?? tokens(text.length + calls.join("").length) + reasoning_output_tokens;
  return {
    input_tokens,
    cached_input_tokens: usage.cached_input_tokens ?? 0,
    output_tokens,
    reasoning_output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
}

function tokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}
