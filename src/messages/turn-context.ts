import * as z from "zod";
import { SandboxPolicy } from "./policy.js";
import { SessionSource } from "./session-source.js";

/**
 * The settings one turn runs with. Our keys beside Codex's are `provider`, so that a resumed turn finds its way back,
 * `api`, and for readers of the file `session_source`. A resumed conversation uses the API that is configured then,
 * unless `api_chosen` says that this one was chosen for the conversation, as with `cody resume <id> --api chat`.
 */
export const TurnContext = z.object({
  turn_id: z.string().optional(),
  cwd: z.string(),
  approval_policy: z.unknown(),
  sandbox_policy: SandboxPolicy,
  model: z.string(),
  effort: z.string().nullish(),
  summary: z.unknown(),
  /** For a turn that goes on after its process died. */
  final_output_json_schema: z.unknown().optional(),
  provider: z.string().optional(),
  api: z.string().optional(),
  /** Present in the turns of a resumed conversation; the first line has it for the others. */
  session_source: SessionSource.optional(),
  api_chosen: z.boolean().optional(),
});
export type TurnContext = z.infer<typeof TurnContext>;
