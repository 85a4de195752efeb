import * as z from "zod";

/** The description of a tool that is sent to the model. */
export const ToolSpec = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string(),
  /** JSON Schema of the arguments. */
  parameters: z.record(z.string(), z.unknown()),
  /** The only argument is a text named `input`, so a model that can send plain text instead of JSON may do so. */
  freeform: z.boolean().optional(),
});
export type ToolSpec = z.infer<typeof ToolSpec>;

/** The result of a tool: text for the model, and whether the call succeeded. */
export const ToolOutput = z.object({
  content: z.string(),
  success: z.boolean(),
  /** Images for the model besides the text, as data URLs. */
  images: z.array(z.string()).optional(),
  /** True if `content` is only a part of the output. The tool has passed the whole output to `keep`. */
  isPart: z.boolean().optional(),
});
export type ToolOutput = z.infer<typeof ToolOutput>;
