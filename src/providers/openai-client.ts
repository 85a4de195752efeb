import type { OpenAI } from "openai";
import { secretOf } from "./credential.js";
import { keptClient } from "./kept-client.js";

const vendorUrl = "https://api.openai.com/v1";

/**
 * The SDK's client; loading the SDK takes long, so that waits until it is needed.
 * Everything it would otherwise read from the environment is given: another server must not get OpenAI's key.
 */
export const openaiClient = keptClient<OpenAI>(async ({ baseUrl, transport }, credential, timeout) => {
  const sdk = await import("openai");
  return new sdk.OpenAI({
    baseURL: baseUrl ?? vendorUrl,
    apiKey: secretOf(credential) ?? "none",
    adminAPIKey: null,
    ...(baseUrl === undefined ? {} : { organization: null, project: null }),
    ...(credential === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    ...(typeof credential === "object" ? { defaultHeaders: credential.headers } : {}),
    fetch: transport.fetch,
    // Retries are the conversation's business, which shows them.
    maxRetries: 0,
    timeout,
    logLevel: "off",
  });
});
