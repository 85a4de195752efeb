import * as z from "zod";
import { FileChanges } from "./file-change.js";

/** Codex's answers to an approval request. `abort` also ends the turn; the text of a rejection is sent to the model. */
export const ReviewDecision = z.union([
  z.enum(["approved", "approved_for_session", "denied", "abort", "timed_out"]),
  z.strictObject({ denied: z.strictObject({ rejection: z.string().max(10_000) }) }),
]);
export type ReviewDecision = z.infer<typeof ReviewDecision>;

/** The question to a person. The command is exactly the one that will run. */
export const ExecApprovalRequest = z.object({
  /** The id that `exec_approval` refers to. Random, so that nobody can answer a request they did not receive. */
  approval_id: z.string(),
  call_id: z.string(),
  turn_id: z.string(),
  /** The tool that would run the command, so that one tool's request cannot be mistaken for another's. */
  tool: z.string(),
  /** For a tool that runs no program: its name, then its arguments. */
  command: z.array(z.string()),
  cwd: z.string(),
  reason: z.string().nullish(),
});
export type ExecApprovalRequest = z.infer<typeof ExecApprovalRequest>;

/** Any approval request. A request for a patch lists the file changes. */
export const ApprovalRequest = ExecApprovalRequest.extend({ changes: FileChanges.optional() });
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;
