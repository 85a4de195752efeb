import { Readable } from "node:stream";
import { AnswerError } from "./answer-error.js";
import { readText } from "./read-text.js";
import type { Transport } from "./transport.js";

const maxErrorBytes = 64 * 1024;

/** Through a `fetch` of the web, which is how a proxy is reached. */
export function webPost(fetchFrom: typeof fetch): Transport["post"] {
  return async ({ url, headers }, body, signal) => {
    const response = await fetchFrom(url, { method: "POST", headers, body: body(), signal });
    const source = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
    if (response.ok) return { headers: Object.fromEntries(response.headers), body: source };
    const text = await readText(source, maxErrorBytes);
    throw new AnswerError(response.status, text, response.headers.get("retry-after") ?? undefined);
  };
}
