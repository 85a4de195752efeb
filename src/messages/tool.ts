import * as z from "zod";

/** A tool as the model is told of it. */
export const ToolSpec = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string(),
  /** JSON Schema of the arguments. */
  parameters: z.record(z.string(), z.unknown()),
  /** Its only argument is a text named `input`: a model that can give a tool plain text instead of JSON may do so. */
  freeform: z.boolean().optional(),
});
export type ToolSpec = z.infer<typeof ToolSpec>;

/** What a tool gives back: text for the model, and whether the call did what was asked. */
export const ToolOutput = z.object({
  content: z.string(),
  success: z.boolean(),
  /** What the model shall see besides the text, as data URLs. */
  images: z.array(z.string()).optional(),
  /** Whether the text is only a part of what the call wrote: the whole is what it gave to `keep`. */
  isPart: z.boolean().optional(),
});
export type ToolOutput = z.infer<typeof ToolOutput>;
