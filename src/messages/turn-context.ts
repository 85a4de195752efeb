import * as z from "zod";
import { SandboxPolicy } from "./tools/policy.js";

export const SessionId = z.string();
export type SessionId = z.infer<typeof SessionId>;

/** How a new conversation was started: by a person, by a program, or by an MCP client. */
export const StartSource = z.enum(["interactive", "non_interactive", "mcp"]);
export type StartSource = z.infer<typeof StartSource>;

/** How a conversation was started, or which one was resumed. Codex calls this `source`. */
export const SessionSource = z.union([StartSource, z.object({ resume: SessionId })]);
export type SessionSource = z.infer<typeof SessionSource>;

/**
 * The settings of one turn. Our keys besides Codex's are `provider`, which a resumed turn needs to continue, `api`, and
 * `session_source` for readers of the file. A resumed conversation uses the API configured at that time, unless
 * `api_chosen` is set because the API was chosen for this conversation, as with `cody resume <id> --api chat`.
 */
export const TurnContext = z.object({
  turn_id: z.string().optional(),
  cwd: z.string(),
  approval_policy: z.unknown(),
  sandbox_policy: SandboxPolicy,
  model: z.string(),
  effort: z.string().nullish(),
  summary: z.unknown(),
  /** Lets a turn continue after its process died. */
  final_output_json_schema: z.unknown().optional(),
  provider: z.string().optional(),
  api: z.string().optional(),
  /** Present in the turns of a resumed conversation; otherwise the first line of the rollout has it. */
  session_source: SessionSource.optional(),
  api_chosen: z.boolean().optional(),
});
export type TurnContext = z.infer<typeof TurnContext>;
