import { type Credential, secretOf } from "./credential.js";
import { type HeadOf, keptHead } from "./transport/request-head.js";
import type { WireConnection } from "./wire.js";

const vendorUrl = "https://api.openai.com/v1";

/** Of the requests to a path of the API. */
export function openaiHead(path: string): HeadOf {
  return keptHead(path, openaiClient);
}

/**
 * The SDK's client; loading the SDK takes long, so that waits until it is needed.
 * Everything it would otherwise read from the environment is given: another server must not get OpenAI's key.
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
