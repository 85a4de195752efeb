import * as z from "zod";
import { ConversationConfig } from "./settings/conversation-config.js";
import { OutputSchema } from "./output-schema.js";
import { maxInputChars } from "./user-input.js";

const { provider, api, model, effort, cwd } = ConversationConfig.shape;

/** One task of a batch: a prompt for a conversation of its own. */
export const BatchTask = z.strictObject({
  /** Identifies the task when the batch is started again; derived from its content if absent. */
  key: z.string().min(1).max(200).optional(),
  prompt: z.string().regex(/\S/, "the prompt is empty").max(maxInputChars),
  cwd,
  provider,
  api,
  model,
  effort,
  /** The answer must be JSON that matches it. */
  schema: OutputSchema.optional(),
  /** How often a failed turn is tried again. */
  retries: z.int().min(0).max(10).optional(),
  /** After a crash during a tool call: `attention` ends the task as `needs_attention`, `retry` lets the model continue. */
  onUnknown: z.enum(["attention", "retry"]).optional(),
});
export type BatchTask = Readonly<z.infer<typeof BatchTask>>;

/** The end of one task. */
export const BatchResult = z.object({
  key: z.string(),
  /** `needs_attention`: a crash interrupted a tool call, whose effect is unknown. */
  status: z.enum(["done", "failed", "needs_attention"]),
  /** Absent if none could be started. */
  conversation_id: z.string().optional(),
  answer: z.string().nullable(),
  error: z.string().optional(),
  /** The number of turns that were played for it, in this run and before. */
  attempts: z.int().nonnegative(),
  tokens: z.object({ input: z.int().nonnegative(), output: z.int().nonnegative() }),
  /** In US dollars, if the model's price is known. */
  cost_usd: z.number().nonnegative().optional(),
});
export type BatchResult = z.infer<typeof BatchResult>;
