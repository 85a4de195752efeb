import * as z from "zod";
import { Failure } from "./failure.js";
import { ResponseItem } from "./response-item.js";
import { TokenUsage } from "./token-usage.js";
import type { OutputSchema } from "./output-schema.js";
import { ToolSpec } from "./tool.js";

/** What the table of models or the configuration says about one. */
export const KnownFacts = z.object({ reasons: z.boolean(), maxOutput: z.number().int().positive().optional() });
export type KnownFacts = z.infer<typeof KnownFacts>;

/** What a provider is asked: everything the model gets to see. */
export const ModelRequest = z.object({
  conversationId: z.string(),
  model: z.string(),
  /** The system prompt, made anew for every request. */
  instructions: z.string(),
  input: z.array(ResponseItem),
  tools: z.array(ToolSpec),
  effort: z.string().nullish(),
  /** Absent where nobody knows the model. */
  facts: KnownFacts.optional(),
  /** As long as the model lets it be, if it is not said. */
  maxOutputTokens: z.number().int().positive().optional(),
  /** What the answer has to fit. */
  outputSchema: z.custom<OutputSchema>().optional(),
});
export type ModelRequest = z.infer<typeof ModelRequest>;

export const FinishReason = z.enum(["stop", "length", "tool_calls"]);
export type FinishReason = z.infer<typeof FinishReason>;

/**
 * What a model's stream says, in one dialect for all wire APIs. The last event is `done` or `failed`; a stream that
 * ends without one was cut.
 */
export const ModelEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), itemId: z.string(), delta: z.string() }),
  z.object({ type: z.literal("reasoning_delta"), itemId: z.string(), delta: z.string() }),
  /** A tool call begins; its item follows when it is complete. Optional, as its deltas are. */
  z.object({ type: z.literal("tool_call_start"), itemId: z.string(), callId: z.string(), name: z.string() }),
  /** A piece of the arguments of a call, or of the input of a freeform one. */
  z.object({ type: z.literal("tool_call_delta"), itemId: z.string(), delta: z.string() }),
  /** Bytes of an item that are kept until it is complete and no delta shows. They count towards `turnLimits`. */
  z.object({ type: z.literal("buffered"), bytes: z.number().int().nonnegative() }),
  /** A finished item: what enters history. */
  z.object({ type: z.literal("item"), itemId: z.string(), item: ResponseItem }),
  z.object({ type: z.literal("usage"), usage: TokenUsage }),
  z.object({ type: z.literal("done"), finishReason: FinishReason }),
  z.object({ type: z.literal("failed"), failure: Failure }),
]);
export type ModelEvent = z.infer<typeof ModelEvent>;
