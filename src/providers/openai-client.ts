import type { OpenAI } from "openai";
import type { WireConnection } from "./wire.js";

const vendorUrl = "https://api.openai.com/v1";

/**
 * The SDK's client for one request; making one is cheap, loading the SDK is not, so that waits until it is needed.
 * Everything it would otherwise read from the environment is given: another server must not get OpenAI's key.
 */
export async function openaiClient(
  { baseUrl, transport }: WireConnection,
  apiKey: string | undefined,
  timeout: number,
): Promise<OpenAI> {
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
}
