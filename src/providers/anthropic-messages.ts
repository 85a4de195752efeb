import type { ModelEvent, ModelRequest } from "../messages/model.js";
import { AnthropicDecoder } from "./anthropic-decoder.js";
import { anthropicRequest } from "./anthropic-request.js";
import { defaultIdleMs, maxEventBytes } from "./stream-bounds.js";
import type { WireConnection, WireStream } from "./wire.js";
import { wireFailure } from "./wire-failure.js";

const vendorUrl = "https://api.anthropic.com";

/** The Messages API of Anthropic, and of servers that resemble it. */
export const anthropicMessages: WireStream = async function* (connection, request, signal) {
  if (signal.aborted) return;
  const context = { provider: connection.provider, apiKey: connection.apiKey() };
  try {
    const decoder = new AnthropicDecoder(request.model, context);
    const response = await send(connection, context.apiKey, request, signal);
    const bounds = { signal, idleMs: defaultIdleMs, maxEventBytes };
    for await (const { data } of connection.transport.events(response, bounds)) {
      for (const event of decoder.read(data)) {
        if (signal.aborted) return;
        yield event;
        if (isLast(event)) return;
      }
    }
    if (!signal.aborted) yield cut(connection.provider);
  } catch (error) {
    if (!signal.aborted) yield { type: "failed", failure: wireFailure(error, context) };
  }
};

async function send(
  { baseUrl, transport }: WireConnection,
  apiKey: string | undefined,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Response> {
  // Loaded on first use: it takes longer than the rest of a start together.
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    baseURL: baseUrl ?? vendorUrl,
    // Without a key the SDK would look for one in the environment and in the home of the user, and send it anywhere.
    apiKey: apiKey ?? "none",
    ...(apiKey === undefined ? { defaultHeaders: { authorization: null } } : {}),
    fetch: transport.fetch,
    maxRetries: 0,
    timeout: defaultIdleMs,
    logLevel: "off",
  });
  // Not `messages.create`, which tells the console, and so the terminal of the user, about the age of models.
  return client.post("/v1/messages", { body: anthropicRequest(request), stream: true, signal }).asResponse();
}

function isLast({ type }: ModelEvent): boolean {
  return type === "done" || type === "failed";
}

function cut(provider: string): ModelEvent {
  const message = `${provider}: the answer ended before it was complete`;
  return { type: "failed", failure: { code: "network", message, retryable: true } };
}
