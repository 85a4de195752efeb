import * as z from "zod";
import { FileChanges } from "./file-change.js";

/** Codex's answers to an approval request. `abort` also ends the turn; a rejection is told to the model. */
export const ReviewDecision = z.union([
  z.enum(["approved", "approved_for_session", "denied", "abort", "timed_out"]),
  z.strictObject({ denied: z.strictObject({ rejection: z.string().max(10_000) }) }),
]);
export type ReviewDecision = z.infer<typeof ReviewDecision>;

/** What a person is asked: the command exactly as it will run. */
export const ExecApprovalRequest = z.object({
  /** What `exec_approval` names: random, so that nobody can answer what they were not asked. */
  approval_id: z.string(),
  call_id: z.string(),
  turn_id: z.string(),
  /** The tool that would run it: what looks like another tool's request is none. */
  tool: z.string(),
  /** For a tool that runs no program: its name, then what it was given. */
  command: z.array(z.string()),
  cwd: z.string(),
  reason: z.string().nullish(),
});
export type ExecApprovalRequest = z.infer<typeof ExecApprovalRequest>;

/** Any request: one for a patch says what would become of the files. */
export const ApprovalRequest = ExecApprovalRequest.extend({ changes: FileChanges.optional() });
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;
