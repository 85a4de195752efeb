import * as z from "zod";
import { parsed } from "../base/parse.js";
import { TokenUsage } from "../messages/token-usage.js";

const count = z.number().int().nonnegative();
const maxDelayMs = 3_600_000;

/** How an answer goes wrong; every wire API has its own body or event for it. */
export const MockFault = z.discriminatedUnion("type", [
  /** An error instead of an answer, as 429, 500, 503, 529 or 400. */
  z.strictObject({
    type: z.literal("status"),
    status: z.number().int().min(400).max(599),
    message: z.string().optional(),
    /** The `retry-after` header: seconds, or any text, as a date. */
    retryAfter: z.union([z.number(), z.string()]).optional(),
  }),
  /** 400: the conversation is longer than the model's context window. */
  z.strictObject({ type: z.literal("overflow") }),
  /** The connection is closed, or reset, after so many bytes of the body; after 0 there was no answer at all. */
  z.strictObject({ type: z.literal("disconnect"), afterBytes: count, reset: z.boolean().optional() }),
  /** Nothing more comes after so many bytes of the body; without a number not even the headers come. */
  z.strictObject({ type: z.literal("stall"), afterBytes: count.optional() }),
  /** What is neither JSON nor SSE, as the whole body or as one event in the middle. */
  z.strictObject({ type: z.literal("garbage"), as: z.enum(["body", "event"]).optional() }),
  /** The stream ends cleanly, but without its terminal event. */
  z.strictObject({ type: z.literal("cut") }),
  z.strictObject({ type: z.literal("duplicate_terminal") }),
  /** Pings or comments and nothing else, until the client leaves. */
  z.strictObject({ type: z.literal("ping_only"), everyMs: z.number().int().positive().optional() }),
  /** An error event in the stream, after so many deltas. */
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
    /** A string goes out as it is: it need not be JSON. */
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]),
    id,
  }),
  /** A call of a custom tool, whose input is any text. Where the API has none it is an argument named `input`. */
  z.strictObject({ name, input: z.string(), id }),
]);
export type MockCall = z.infer<typeof MockCall>;

/** An output item that is sent as it is. */
export const MockItem = z.looseObject({ type: z.enum(["web_search_call", "local_shell_call"]), id });
export type MockItem = z.infer<typeof MockItem>;

export const MockReply = z.strictObject({
  text: z.string().optional(),
  /** Sent when the request asks for it, as by the real API. */
  reasoning: z.string().optional(),
  /** Thinking that nobody may read: a sealed block behind the reasoning, over Messages alone. */
  redacted: z.string().min(1).optional(),
  calls: z.array(MockCall).max(128).optional(),
  /** What the provider's own tools did or ask for, before the text, over Responses alone. Missing ids are made up. */
  items: z.array(MockItem).max(128).optional(),
  /** What is missing is estimated. */
  usage: TokenUsage.omit({ total_tokens: true }).partial().strict().optional(),
  /** `length`: the model was cut off by its output limit. */
  finish: z.enum(["stop", "length"]).optional(),
  /** In how many deltas the text comes; without a text, that many words. Without a number: word by word. */
  deltas: z.number().int().positive().max(100_000).optional(),
  /** The time between two deltas; without it they come at once. */
  delayMs: z.number().nonnegative().max(maxDelayMs).optional(),
  /** How many deltas go out together: 1 when there is a delay, else 64. */
  perWrite: z.number().int().positive().optional(),
  /** Only for requests of this session. */
  session: z.string().optional(),
  fault: MockFault.optional(),
});
export type MockReply = z.infer<typeof MockReply>;

/** What a server answers, one reply after another. */
export const MockScript = z.strictObject({
  replies: z.array(MockReply).min(1),
  /** Who goes through the replies: all requests together, or every session from the start. */
  per: z.enum(["server", "session"]).optional(),
  /** What comes after the last reply: an error (400), the replies once more, or the offline model. */
  afterLast: z.enum(["error", "repeat", "offline"]).optional(),
});
export type MockScript = z.infer<typeof MockScript>;

/** A script, or only its replies. */
export function readScript(value: unknown, what: string): MockScript {
  return parsed(MockScript, Array.isArray(value) ? { replies: value } : value, what);
}
