import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine } from "../../src/rollouts/file/encode.js";

/** A line that is unique and has multi-byte characters. */
export function numberedLine(conversation: string, number: number): OwnLine {
  const text = `${conversation} ${number} é€😀 ${"x".repeat(number * 7)}`;
  const payload = { type: "message" as const, role: "user" as const, content: [{ type: "input_text" as const, text }] };
  return { timestamp: "2026-11-16T00:00:00.000Z", type: "response_item", payload };
}

/** The content of a file with these lines. */
export function numberedLines(conversation: string, numbers: readonly number[]): Buffer {
  return Buffer.from(numbers.map((number) => encodeLine(numberedLine(conversation, number))).join(""));
}

/** The numbers from 1 to `last`. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
