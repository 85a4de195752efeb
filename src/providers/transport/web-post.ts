import { Readable } from "node:stream";
import { AnswerError } from "../failures/answer-error.js";
import { readText } from "./read-text.js";
import { maxErrorBytes } from "./stream-bounds.js";
import type { PendingResponse, Transport } from "./transport.js";

/** Posts through a web `fetch`, which is how a proxy is reached. */
export function webPost(fetchFrom: typeof fetch): Transport["post"] {
  return ({ url, headers }, body) => {
    const controller = new AbortController();
    const { signal } = controller;
    return {
      answer: fetchFrom(url, { method: "POST", headers, body: body(), signal }).then(webResponse),
      cancel: (reason) => controller.abort(reason),
    };
  };
}

async function webResponse(response: Response): Promise<PendingResponse> {
  const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
  if (!response.ok) {
    const text = await readText(body, maxErrorBytes);
    throw new AnswerError(response.status, text, response.headers.get("retry-after") ?? undefined);
  }
  // Without a listener, an error before the first read would crash the process. The reader detects the failure itself.
  body.on("error", () => undefined);
  return { headers: Object.fromEntries(response.headers), body };
}
