import type { ClientOptions } from "@anthropic-ai/sdk";
import type { Credential } from "../credential.js";
import { cachedHead, type WireStream, type WireConnection } from "../transport/request-head.js";
import { wireAnswer } from "../wire-answer.js";
import { AnthropicDecoder } from "./decoder.js";
import { anthropicRequest } from "./request-body.js";

const vendorUrl = "https://api.anthropic.com";

export const head = cachedHead("/v1/messages", anthropicClient);

/** Anthropic's Messages API, and servers that resemble it. Uses the SDK's types, authentication and address. */
export const anthropicMessages: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      head,
      body: () => anthropicRequest(request),
      decoder: (context) => new AnthropicDecoder(request.model, context),
    },
    signal,
  );

/**
 * Creates the SDK's client. The SDK loads slowly, so it is imported on first use. Without an explicit key the SDK would
 * search the environment and the user's home for one, and send it to whichever server this is.
 */
async function anthropicClient({ baseUrl }: WireConnection, credential: Credential | undefined, timeout: number) {
  const sdk = await import("@anthropic-ai/sdk");
  // The full client creates a hundred resource objects first, which costs five times as much.
  return new sdk.BaseAnthropic({ baseURL: baseUrl ?? vendorUrl, ...proof(credential), timeout, logLevel: "off" });
}

/** A login token is never also sent as an API key. */
function proof(credential: Credential | undefined): ClientOptions {
  if (typeof credential === "object") {
    return { apiKey: null, authToken: credential.token, defaultHeaders: credential.headers };
  }
  if (credential === undefined) return { apiKey: "none", defaultHeaders: { authorization: null } };
  return { apiKey: credential };
}
