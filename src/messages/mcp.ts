import * as z from "zod";

/** A tool of a server, under the names the server and its configuration have for them. */
export const McpInvocation = z.object({
  server: z.string(),
  tool: z.string(),
  arguments: z.unknown().optional(),
});
export type McpInvocation = z.infer<typeof McpInvocation>;

/** A part of what a tool gave back; only the shapes we know are looked into. */
export const McpContent = z.looseObject({ type: z.string() });
export type McpContent = z.infer<typeof McpContent>;

/** What a server answers to a call. In an event it is bounded: long texts are cut, pictures have no data. */
export const CallToolResult = z.looseObject({
  content: z.array(McpContent),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type CallToolResult = z.infer<typeof CallToolResult>;

/** As Codex writes it. */
export const McpToolResult = z.union([z.strictObject({ Ok: CallToolResult }), z.strictObject({ Err: z.string() })]);
export type McpToolResult = z.infer<typeof McpToolResult>;

export const McpStartupStatus = z.discriminatedUnion("state", [
  z.object({ state: z.literal("starting") }),
  z.object({ state: z.literal("ready") }),
  z.object({ state: z.literal("failed"), error: z.string() }),
  z.object({ state: z.literal("cancelled") }),
]);
export type McpStartupStatus = z.infer<typeof McpStartupStatus>;

/** What the servers of a conversation offer; tools by the names the model has for them. */
export const McpServerTools = z.object({
  tools: z.record(z.string(), z.looseObject({ name: z.string(), description: z.string(), inputSchema: z.unknown() })),
  resources: z.record(z.string(), z.array(z.unknown())),
  resource_templates: z.record(z.string(), z.array(z.unknown())),
  /** Ours: the prompts, by server. */
  prompts: z.record(z.string(), z.array(z.unknown())),
});
export type McpServerTools = z.infer<typeof McpServerTools>;
