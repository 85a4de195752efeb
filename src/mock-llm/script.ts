import * as z from "zod";
import { parsed } from "../base/parse.js";
import { TokenUsage } from "../messages/token-usage.js";

const count = z.number().int().nonnegative();
const maxDelayMs = 3_600_000;

/** A fault in an answer; every wire API has its own body or event for it. */
export const MockFault = z.discriminatedUnion("type", [
  /** An error instead of an answer, such as 429, 500, 503, 529 or 400. */
  z.strictObject({
    type: z.literal("status"),
    status: z.number().int().min(400).max(599),
    message: z.string().optional(),
    /** The `retry-after` header: seconds, or any text, such as a date. */
    retryAfter: z.union([z.number(), z.string()]).optional(),
  }),
  /** 400: the conversation exceeds the model's context window. */
  z.strictObject({ type: z.literal("overflow") }),
  /** The connection is closed, or reset, after this many bytes of the body; with 0 there is no response at all. */
  z.strictObject({ type: z.literal("disconnect"), afterBytes: count, reset: z.boolean().optional() }),
  /** Nothing more is sent after this many bytes of the body; without a number, not even the headers are sent. */
  z.strictObject({ type: z.literal("stall"), afterBytes: count.optional() }),
  /** Data that is neither JSON nor SSE, as the whole body or as one event in the middle. */
  z.strictObject({ type: z.literal("garbage"), as: z.enum(["body", "event"]).optional() }),
  /** The stream ends cleanly, but without its terminal event. */
  z.strictObject({ type: z.literal("cut") }),
  z.strictObject({ type: z.literal("duplicate_terminal") }),
  /** Pings or comments and nothing else, until the client disconnects. */
  z.strictObject({ type: z.literal("ping_only"), everyMs: z.number().int().positive().optional() }),
  /** An error event in the stream, after this many deltas. */
  z.strictObject({
    type: z.literal("error_event"),
    status: z.number().int().min(400).max(599).optional(),
    message: z.string().optional(),
    afterDeltas: count.optional(),
  }),
]);
export type MockFault = z.infer<typeof MockFault>;

const name = z.string().min(1);
const id = z.string().min(1).optional();

export const MockCall = z.union([
  z.strictObject({
    name,
    /** A string is sent as it is: it need not be JSON. */
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]),
    id,
  }),
  /**
   * A call of a custom tool, with any text as its input. In APIs without custom tools it becomes an argument named
   * `input`.
   */
  z.strictObject({ name, input: z.string(), id }),
]);
export type MockCall = z.infer<typeof MockCall>;

/** An output item that is sent as it is. */
export const MockItem = z.looseObject({ type: z.enum(["web_search_call", "local_shell_call"]), id });
export type MockItem = z.infer<typeof MockItem>;

export const MockReply = z.strictObject({
  text: z.string().optional(),
  /** Sent only if the request asks for it, as in the real API. */
  reasoning: z.string().optional(),
  /** Redacted thinking: an encrypted block after the reasoning, in the Messages API only. */
  redacted: z.string().min(1).optional(),
  calls: z.array(MockCall).max(128).optional(),
  /**
   * Calls or results of the provider's own tools, sent before the text, in the Responses API only. Missing ids are
   * generated.
   */
  items: z.array(MockItem).max(128).optional(),
  /** Missing numbers are estimated. */
  usage: TokenUsage.omit({ total_tokens: true }).partial().strict().optional(),
  /** `length`: the output limit cut off the answer. */
  finish: z.enum(["stop", "length"]).optional(),
  /** The number of deltas for the text; without a text, the number of generated words. If absent: word by word. */
  deltas: z.number().int().positive().max(100_000).optional(),
  /** The delay between two deltas; without it, all are sent at once. */
  delayMs: z.number().nonnegative().max(maxDelayMs).optional(),
  /** The number of deltas per write: by default 1 if there is a delay, else 64. */
  perWrite: z.number().int().positive().optional(),
  /** Only for requests of this session. */
  session: z.string().optional(),
  fault: MockFault.optional(),
});
export type MockReply = z.infer<typeof MockReply>;

/** The replies of a server, in order. */
export const MockScript = z.strictObject({
  replies: z.array(MockReply).min(1),
  /** Whether all requests share one sequence of replies, or every session starts from the beginning. */
  per: z.enum(["server", "session"]).optional(),
  /** After the last reply: an error (400), the replies again, or the offline model. */
  afterLast: z.enum(["error", "repeat", "offline"]).optional(),
});
export type MockScript = z.infer<typeof MockScript>;

/** Parses a script, or a plain list of replies. */
export function readScript(value: unknown, what: string): MockScript {
  return parsed(MockScript, Array.isArray(value) ? { replies: value } : value, what);
}
