import type { MockReply, MockCall } from "./script.js";

/**
 * The parts of a reply, with each delta already quoted as JSON. Cached, so that a reply is split once, however often it
 * is sent.
 */
interface ReplyParts {
  readonly text: string;
  readonly textDeltas: readonly string[];
  readonly reasoning: string;
  readonly reasoningDeltas: readonly string[];
}

const argumentDeltas = 4;
const split = new WeakMap<MockReply, ReplyParts>();

export function partsOf(reply: MockReply): ReplyParts {
  const known = split.get(reply);
  if (known !== undefined) return known;
  const text = reply.text ?? (reply.calls === undefined && reply.deltas !== undefined ? words(reply.deltas) : "");
  const reasoning = reply.reasoning ?? "";
  const parts = {
    text,
    textDeltas: (reply.deltas === undefined ? byWords(text) : inPieces(text, reply.deltas)).map(quoted),
    reasoning,
    reasoningDeltas: byWords(reasoning).map(quoted),
  };
  split.set(reply, parts);
  return parts;
}

/** Arguments are split at arbitrary positions. */
export function argumentPieces(text: string): string[] {
  return inPieces(text, argumentDeltas);
}

function words(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${index + 1} `).join("");
}

function byWords(text: string): string[] {
  return text.match(/\S+\s*|^\s+/g) ?? [];
}

/** Never returns more pieces than characters, and never splits a surrogate pair. */
function inPieces(text: string, count: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let index = 1; index <= count; index += 1) {
    let end = Math.round((text.length * index) / count);
    if (isLowSurrogate(text, end)) end += 1;
    if (end > start) pieces.push(text.slice(start, end));
    start = Math.max(start, end);
  }
  return pieces;
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc_00 && code <= 0xdf_ff;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A call's arguments as the text that is sent. */
export function argumentsOf(call: MockCall): string {
  if ("input" in call) return JSON.stringify({ input: call.input });
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}
