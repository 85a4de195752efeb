import * as z from "zod";

export const SessionId = z.string();
export type SessionId = z.infer<typeof SessionId>;

/** How a new conversation was started: by a person, by a program, or by an MCP client. */
export const StartSource = z.enum(["interactive", "non_interactive", "mcp"]);
export type StartSource = z.infer<typeof StartSource>;

/** How a conversation was started, or which one was resumed. Codex calls this `source`. */
export const SessionSource = z.union([StartSource, z.object({ resume: SessionId })]);
export type SessionSource = z.infer<typeof SessionSource>;
