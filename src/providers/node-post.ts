import { AnswerError } from "./answer-error.js";
import { decoded } from "./content-encoding.js";
import type { NodeSender } from "./node-sender.js";
import { readText } from "./read-text.js";
import type { Transport } from "./transport.js";

const maxErrorBytes = 64 * 1024;

/** Over node:http, because undici's web streams cost more than parsing what comes through them. */
export function nodePost(sender: NodeSender): Transport["post"] {
  return async ({ url, headers }, body, signal) => {
    const message = await sender.send({ url, method: "POST", headers, body, signal });
    const status = message.statusCode ?? 0;
    const source = decoded(message, message.headers["content-encoding"]);
    if (status < 400) {
      // Nobody listens between now and the first read; what breaks then is seen by who reads.
      source.on("error", () => undefined);
      return { headers: message.headers, body: source };
    }
    throw new AnswerError(status, await readText(source, maxErrorBytes), message.headers["retry-after"]);
  };
}
