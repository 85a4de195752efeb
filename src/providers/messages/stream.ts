import type { ClientOptions } from "@anthropic-ai/sdk";
import type { Credential } from "../credential.js";
import { keptHead } from "../transport/request-head.js";
import { wireAnswer } from "../wire-answer.js";
import type { WireStream, WireConnection } from "../wire.js";
import { AnthropicDecoder } from "./decoder.js";
import { anthropicRequest } from "./request-body.js";

const vendorUrl = "https://api.anthropic.com";

const anthropicHead = keptHead("/v1/messages", anthropicClient);

/** The Messages API of Anthropic, and of servers that resemble it. Types, authentication and address are the SDK's. */
export const anthropicMessages: WireStream = (connection, request, signal) =>
  wireAnswer(
    connection,
    {
      head: anthropicHead,
      body: () => anthropicRequest(request),
      decoder: (context) => new AnthropicDecoder(request.model, context),
    },
    signal,
  );

/**
 * The SDK's client; loading the SDK takes long, so that waits until it is needed. Without a key it
 * would look for one in the environment and in the home of the user, and send it to whatever server this is.
 */
async function anthropicClient({ baseUrl }: WireConnection, credential: Credential | undefined, timeout: number) {
  const sdk = await import("@anthropic-ai/sdk");
  // The whole client makes a hundred resources first, which costs five times as much.
  return new sdk.BaseAnthropic({ baseURL: baseUrl ?? vendorUrl, ...proof(credential), timeout, logLevel: "off" });
}

/** A token is never sent as a key as well. */
function proof(credential: Credential | undefined): ClientOptions {
  if (typeof credential === "object") {
    return { apiKey: null, authToken: credential.token, defaultHeaders: credential.headers };
  }
  if (credential === undefined) return { apiKey: "none", defaultHeaders: { authorization: null } };
  return { apiKey: credential };
}
