import type { OpenAI } from "openai";
import { keptClient } from "./kept-client.js";

const vendorUrl = "https://api.openai.com/v1";

/**
 * The SDK's client; loading the SDK takes long, so that waits until it is needed.
 * Everything it would otherwise read from the environment is given: another server must not get OpenAI's key.
 */
export const openaiClient = keptClient<OpenAI>(async ({ baseUrl, transport }, apiKey, timeout) => {
  const sdk = await import("openai");
  return new sdk.OpenAI({
    baseURL: baseUrl ?? vendorUrl,
    apiKey: apiKey ?? "none",
    adminAPIKey: null,
    ...(baseUrl === undefined ? {} : { organization: null, project: null }),
    ...(apiKey === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    fetch: transport.fetch,
    // Retries are the conversation's business, which shows them.
    maxRetries: 0,
    timeout,
    logLevel: "off",
  });
});
