import { createHash } from "node:crypto";
import type { ModelEvent, ModelRequest } from "../messages/model.js";

const lastItems = 8;

/**
 * Turns a request into a model's stream. Once started the stream does not throw: its last event is `done` or `failed`,
 * and when the signal is aborted it ends without either.
 */
export interface Provider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/**
 * A stable id for the answer to this request. It includes the last items, which hold the ids of earlier answers, so
 * that an id does not repeat when compaction has made the history short again.
 */
export function requestDigest({ conversationId, input }: ModelRequest): string {
  const hash = createHash("sha256").update(`${conversationId}\n${input.length}\n`);
  return hash
    .update(JSON.stringify(input.slice(-lastItems)))
    .digest("hex")
    .slice(0, 24);
}
