import * as z from "zod";
import { Failure } from "./failure.js";
import { ResponseItem } from "./response-item.js";
import { TokenUsage } from "./token-usage.js";
import type { OutputSchema } from "./output-schema.js";
import { ToolSpec } from "./tools/tool.js";

/** Facts about a model from the model table or the configuration. */
export const KnownFacts = z.object({ reasons: z.boolean(), maxOutput: z.number().int().positive().optional() });
export type KnownFacts = z.infer<typeof KnownFacts>;

/** A request to a provider: everything the model sees. */
export const ModelRequest = z.object({
  conversationId: z.string(),
  model: z.string(),
  /** The system prompt, built anew for every request. */
  instructions: z.string(),
  input: z.array(ResponseItem),
  tools: z.array(ToolSpec),
  effort: z.string().nullish(),
  /** Absent for an unknown model. */
  facts: KnownFacts.optional(),
  /** Defaults to the model's maximum. */
  maxOutputTokens: z.number().int().positive().optional(),
  /** The schema the answer must match. */
  outputSchema: z.custom<OutputSchema>().optional(),
});
export type ModelRequest = z.infer<typeof ModelRequest>;

export const FinishReason = z.enum(["stop", "length", "tool_calls"]);
export type FinishReason = z.infer<typeof FinishReason>;

/**
 * An event of a model's stream, in one format for all wire APIs. The last event is `done` or `failed`; a stream that
 * ends without one was cut off.
 */
export const ModelEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), itemId: z.string(), delta: z.string() }),
  z.object({ type: z.literal("reasoning_delta"), itemId: z.string(), delta: z.string() }),
  /** A tool call begins; its item follows when it is complete. Optional, like its deltas. */
  z.object({ type: z.literal("tool_call_start"), itemId: z.string(), callId: z.string(), name: z.string() }),
  /** A piece of the arguments of a call, or of the input of a freeform call. */
  z.object({ type: z.literal("tool_call_delta"), itemId: z.string(), delta: z.string() }),
  /** Bytes of an unfinished item that no delta shows. They count towards `turnLimits`. */
  z.object({ type: z.literal("buffered"), bytes: z.number().int().nonnegative() }),
  /** A finished item, which enters history. */
  z.object({ type: z.literal("item"), itemId: z.string(), item: ResponseItem }),
  z.object({ type: z.literal("usage"), usage: TokenUsage }),
  z.object({ type: z.literal("done"), finishReason: FinishReason }),
  z.object({ type: z.literal("failed"), failure: Failure }),
]);
export type ModelEvent = z.infer<typeof ModelEvent>;
