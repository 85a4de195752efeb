import * as z from "zod";

/** Codex's answers to an approval request. */
export const ReviewDecision = z.enum(["approved", "approved_for_session", "denied", "abort"]);
export type ReviewDecision = z.infer<typeof ReviewDecision>;

/** What a person is asked: the command exactly as it will run. */
export const ExecApprovalRequest = z.object({
  call_id: z.string(),
  turn_id: z.string(),
  command: z.array(z.string()),
  cwd: z.string(),
  reason: z.string().nullish(),
});
export type ExecApprovalRequest = z.infer<typeof ExecApprovalRequest>;
