import { createHash } from "node:crypto";
import type { ModelRequest } from "../messages/model.js";

const lastItems = 8;

/**
 * A name for what answers this request, the same whenever it is asked again. The last items hold the ids of earlier
 * answers, so an id does not come back when compaction has made the history short again.
 */
export function requestDigest({ conversationId, input }: ModelRequest): string {
  const hash = createHash("sha256").update(`${conversationId}\n${input.length}\n`);
  return hash
    .update(JSON.stringify(input.slice(-lastItems)))
    .digest("hex")
    .slice(0, 24);
}
