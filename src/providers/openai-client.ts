import { type Credential, secretOf } from "./credential.js";
import { type MakeHead, cachedHead, type WireConnection } from "./transport/request-head.js";

const vendorUrl = "https://api.openai.com/v1";

/** The function that makes the request head for a path of the API. */
export function openaiHead(path: string): MakeHead {
  return cachedHead(path, openaiClient);
}

/**
 * Creates the SDK's client. The SDK loads slowly, so it is imported on first use. Every option that it would otherwise
 * read from the environment is set: another server must not receive OpenAI's key.
 */
async function openaiClient({ baseUrl }: WireConnection, credential: Credential | undefined, timeout: number) {
  const sdk = await import("openai");
  return new sdk.OpenAI({
    baseURL: baseUrl ?? vendorUrl,
    apiKey: secretOf(credential) ?? "none",
    adminAPIKey: null,
    ...(baseUrl === undefined ? {} : { organization: null, project: null }),
    ...(credential === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    ...(typeof credential === "object" ? { defaultHeaders: credential.headers } : {}),
    timeout,
    logLevel: "off",
  });
}
