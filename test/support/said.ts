import type { OwnLine } from "../../src/messages/rollout-line.js";

/** A line with a message of the user. */
export function said(text: string | number): OwnLine {
  const content = [{ type: "input_text" as const, text: `${text}` }];
  return {
    timestamp: "2026-11-16T00:00:00.000Z",
    type: "response_item",
    payload: { type: "message", role: "user", content },
  };
}
