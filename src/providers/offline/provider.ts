import { setImmediate } from "node:timers/promises";
import { orAborted } from "../../base/time/waiting.js";
import type { ModelEvent, ModelRequest } from "../../messages/model.js";
import { messageText, type ResponseItem } from "../../messages/response-item.js";
import { type Provider, requestDigest } from "../provider.js";
import { offlineReply } from "./reply.js";

export interface OfflineOptions {
  readonly countTokens: (text: string) => number;
  /** Awaited between two deltas; its outcome is ignored. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

/** An answer of any length is split into at most about this many deltas. */
const maxDeltas = 2_000;
const deltasPerYield = 8;

/**
 * The deterministic model built into cody. It needs no key and no network, and says that it is not a language model.
 */
export function offlineProvider(options: OfflineOptions): Provider {
  return { name: "offline", stream: (request, signal) => answer(request, signal, options) };
}

async function* answer(
  request: ModelRequest,
  signal: AbortSignal,
  options: OfflineOptions,
): AsyncGenerator<ModelEvent> {
  if (signal.aborted) return;
  // A stream that only awaits resolved promises would starve sockets and timers.
  const pause = options.pause ?? (() => setImmediate());
  const deltasPerPause = options.pause === undefined ? deltasPerYield : 1;
  const reply = offlineReply(request);
  const itemId = `offline_${requestDigest(request)}`;
  for (const [index, delta] of deltasOf(reply.type === "text" ? reply.text : "").entries()) {
    if (index > 0 && index % deltasPerPause === 0) await orAborted(pause(signal), signal).catch(() => undefined);
    if (signal.aborted) return;
    yield { type: "text_delta", itemId, delta };
  }
  const item: ResponseItem =
    reply.type === "text"
      ? { type: "message", role: "assistant", content: [{ type: "output_text", text: reply.text }] }
      : { type: "function_call", name: reply.name, arguments: JSON.stringify(reply.arguments), call_id: itemId };
  yield { type: "item", itemId, item };
  const tools = request.tools.map((tool) => JSON.stringify(tool));
  const input_tokens = options.countTokens([request.instructions, ...tools, ...request.input.map(textOf)].join("\n"));
  const output_tokens = options.countTokens(textOf(item));
  const tokens = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
  yield { type: "usage", usage: { ...tokens, cached_input_tokens: 0, reasoning_output_tokens: 0 } };
  yield { type: "done", finishReason: reply.type === "text" ? "stop" : "tool_calls" };
}

/** Splits at spaces, which stay at the end of each delta. Words are grouped if there would be too many deltas. */
function deltasOf(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / maxDeltas));
  return text.match(new RegExp(`[^]{${size},}?(?:\\s+|$)|[^]+$`, "g")) ?? [];
}

function textOf(item: ResponseItem): string {
  if (item.type === "message") return messageText(item);
  if (item.type === "function_call") return item.name + item.arguments;
  return item.type === "function_call_output" && typeof item.output === "string" ? item.output : "";
}

/** The providers that every manager has. */
export function builtInProviders(options: OfflineOptions): Provider[] {
  return [offlineProvider(options)];
}
