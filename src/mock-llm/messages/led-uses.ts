import type { JsonObject } from "../json.js";
import { digest } from "../seal.js";

// The real API detects whether the thinking blocks that led to a call came back unchanged. The mock encodes their
// digest in the call's id.

const idAfterThinking = /_t(\d+)_([\w-]{16})$/;

/** The id of a call that these thinking blocks led to. */
export function toolUseIdAfter(id: string, thoughts: readonly JsonObject[]): string {
  return thoughts.length === 0 ? id : `${id}_t${thoughts.length}_${digestOf(thoughts)}`;
}

/** Whether the last thinking blocks before a call are those that led to it. */
export function followsThinking(id: string, thoughts: readonly JsonObject[]): boolean {
  const [, count, seen] = idAfterThinking.exec(id) ?? [];
  return count === undefined || digestOf(thoughts.slice(-Number(count))) === seen;
}

function digestOf(thoughts: readonly JsonObject[]): string {
  const opaque = thoughts.map(({ type, signature, data }) => [type, signature ?? data]);
  return digest(JSON.stringify(opaque)).slice(0, 16);
}
