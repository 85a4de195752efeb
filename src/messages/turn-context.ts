import * as z from "zod";
import { SandboxPolicy } from "./policy.js";

/** The settings one turn runs with; `provider` is our key beside Codex's, so that a resumed turn finds its way back. */
export const TurnContext = z.object({
  turn_id: z.string().optional(),
  cwd: z.string(),
  approval_policy: z.unknown(),
  sandbox_policy: SandboxPolicy,
  model: z.string(),
  effort: z.string().nullish(),
  summary: z.unknown(),
  provider: z.string().optional(),
});
export type TurnContext = z.infer<typeof TurnContext>;
