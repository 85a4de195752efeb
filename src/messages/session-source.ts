import * as z from "zod";

/** How a conversation was started, in the words of the state document; `source` is Codex's word for it. */
export const SessionSource = z.union([
  z.enum(["interactive", "non_interactive", "mcp"]),
  z.object({ resume: z.string() }),
]);
export type SessionSource = z.infer<typeof SessionSource>;
