import * as z from "zod";

/** A call of a server's tool, under the names from the server and the configuration. */
export const McpInvocation = z.object({
  server: z.string(),
  tool: z.string(),
  arguments: z.unknown().optional(),
});
export type McpInvocation = z.infer<typeof McpInvocation>;

/** A part of a tool's result. Only known shapes are inspected. */
export const McpContent = z.looseObject({ type: z.string() });
export type McpContent = z.infer<typeof McpContent>;

/** A server's answer to a call. In events it is bounded: long texts are cut, and images have no data. */
export const CallToolResult = z.looseObject({
  content: z.array(McpContent),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type CallToolResult = z.infer<typeof CallToolResult>;

/** In Codex's format. */
export const McpToolResult = z.union([z.strictObject({ Ok: CallToolResult }), z.strictObject({ Err: z.string() })]);
export type McpToolResult = z.infer<typeof McpToolResult>;

export const McpStartupStatus = z.discriminatedUnion("state", [
  z.object({ state: z.literal("starting") }),
  z.object({ state: z.literal("ready") }),
  z.object({ state: z.literal("failed"), error: z.string() }),
  z.object({ state: z.literal("cancelled") }),
]);
export type McpStartupStatus = z.infer<typeof McpStartupStatus>;

/** Everything the servers of a conversation offer. Tools are keyed by the names the model uses. */
export const McpServerTools = z.object({
  tools: z.record(z.string(), z.looseObject({ name: z.string(), description: z.string(), inputSchema: z.unknown() })),
  resources: z.record(z.string(), z.array(z.unknown())),
  resource_templates: z.record(z.string(), z.array(z.unknown())),
  /** Ours: the prompts by server. */
  prompts: z.record(z.string(), z.array(z.unknown())),
});
export type McpServerTools = z.infer<typeof McpServerTools>;
