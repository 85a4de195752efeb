import * as z from "zod";

/** The lines of Claude Code's stream-json protocol, as far as cody reads them. Unknown fields are ignored. */

const TextBlock = z.object({ type: z.literal("text"), text: z.string() });
const ImageBlock = z.object({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.object({ type: z.literal("base64"), media_type: z.string(), data: z.base64() }),
    z.object({ type: z.literal("url"), url: z.string() }),
  ]),
});

export const StreamUserMessage = z.object({
  type: z.literal("user"),
  message: z.object({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [TextBlock, ImageBlock])).min(1)]),
  }),
});
export type StreamUserMessage = z.infer<typeof StreamUserMessage>;

const named = z.record(z.string(), z.unknown());

export const Initialize = z.object({
  subtype: z.literal("initialize"),
  systemPrompt: z.array(z.string()).nullish(),
  appendSystemPrompt: z.string().nullish(),
  jsonSchema: named.nullish(),
  title: z.string().nullish(),
  // Fields of Claude Code for which cody has no equal.
  hooks: named.nullish(),
  sdkMcpServers: z.array(z.string()).nullish(),
  mcpServers: named.nullish(),
  agents: named.nullish(),
});
export type Initialize = z.infer<typeof Initialize>;

/** A request of the program. One with another subtype is answered with an error. */
export const StreamRequest = z.discriminatedUnion("subtype", [
  Initialize,
  z.object({ subtype: z.literal("interrupt") }),
  z.object({ subtype: z.literal("set_permission_mode"), mode: z.string() }),
  z.object({ subtype: z.literal("set_model"), model: z.string().nullish() }),
]);
export type StreamRequest = z.infer<typeof StreamRequest>;

const id = { request_id: z.string() };

/** One line from the program. */
export const StreamInput = z.discriminatedUnion("type", [
  StreamUserMessage,
  z.object({ type: z.literal("control_request"), ...id, request: z.looseObject({ subtype: z.string() }) }),
  z.object({
    type: z.literal("control_response"),
    response: z.discriminatedUnion("subtype", [
      z.object({ subtype: z.literal("success"), ...id, response: z.unknown() }),
      z.object({ subtype: z.literal("error"), ...id, error: z.string() }),
    ]),
  }),
  z.object({ type: z.literal("control_cancel_request"), ...id }),
  z.object({ type: z.literal("keep_alive") }),
  z.object({ type: z.literal("update_environment_variables") }),
]);
export type StreamInput = z.infer<typeof StreamInput>;

/** The program's answer to `can_use_tool`. */
export const PermissionAnswer = z.discriminatedUnion("behavior", [
  z.object({ behavior: z.literal("allow"), updatedInput: named.nullish() }),
  z.object({ behavior: z.literal("deny"), message: z.string(), interrupt: z.boolean().nullish() }),
]);
export type PermissionAnswer = z.infer<typeof PermissionAnswer>;
