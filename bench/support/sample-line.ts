import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine } from "../../src/rollouts/file/encode.js";

const text = "The quick brown fox jumps over the lazy dog. ".repeat(9).slice(0, 370);

/** A rollout line of about 500 bytes, which is a typical size. */
export const line: OwnLine = {
  timestamp: "2026-11-16T00:00:00.000Z",
  type: "response_item",
  payload: { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
};

export const encodedLine = encodeLine(line);
