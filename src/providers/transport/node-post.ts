import type { IncomingMessage } from "node:http";
import { AnswerError } from "../failures/answer-error.js";
import { decoded } from "./content-encoding.js";
import type { NodeSender } from "./node-sender.js";
import { readText } from "./read-text.js";
import { maxErrorBytes } from "./stream-bounds.js";
import type { Answer, Transport } from "./transport.js";

/** Over node:http, because undici's web streams cost more than parsing what comes through them. */
export function nodePost(sender: NodeSender): Transport["post"] {
  return ({ url, headers }, body) => {
    const sent = sender.send({ url, method: "POST", headers, body });
    return { answer: sent.answer.then(answerIn), cancel: (reason) => sent.cancel(reason) };
  };
}

async function answerIn(message: IncomingMessage): Promise<Answer> {
  const { statusCode = 0, headers } = message;
  const body = decoded(message, headers["content-encoding"]);
  if (statusCode >= 400) {
    throw new AnswerError(statusCode, await readText(body, maxErrorBytes), headers["retry-after"]);
  }
  // Nobody listens between now and the first read; what breaks then is seen by who reads.
  body.on("error", () => undefined);
  return { headers, body };
}
