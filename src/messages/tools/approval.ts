import * as z from "zod";
import { FileChanges } from "./file-change.js";

/** The words that a command begins with. */
export const CommandPrefix = z.array(z.string().max(2_000)).min(1).max(200);
export type CommandPrefix = z.infer<typeof CommandPrefix>;

/**
 * Codex's answers to an approval request. `abort` also ends the turn; the text of a rejection is sent to the model.
 * `approved_for_session` covers such commands for the rest of the conversation, and `approved_execpolicy_amendment`
 * with the prefix that the request proposes covers them in this project for good.
 */
export const ReviewDecision = z.union([
  z.enum(["approved", "approved_for_session", "denied", "abort", "timed_out"]),
  z.strictObject({ denied: z.strictObject({ rejection: z.string().max(10_000) }) }),
  z.strictObject({
    approved_execpolicy_amendment: z.strictObject({ proposed_execpolicy_amendment: CommandPrefix }),
  }),
]);
export type ReviewDecision = z.infer<typeof ReviewDecision>;

/** Whether the call may run. */
export function isApproval(decision: ReviewDecision | undefined): boolean {
  if (typeof decision === "object") return "approved_execpolicy_amendment" in decision;
  return decision === "approved" || decision === "approved_for_session";
}

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
  /** The words of a rule that the answer `approved_execpolicy_amendment` adds; absent if that answer is not offered. */
  proposed_execpolicy_amendment: CommandPrefix.optional(),
  /** The beginnings of commands that `approved_for_session` covers; absent if it covers exactly this command. */
  session_prefixes: z.array(CommandPrefix).optional(),
});
export type ExecApprovalRequest = z.infer<typeof ExecApprovalRequest>;

/** Any approval request. A request for a patch lists the file changes. */
export const ApprovalRequest = ExecApprovalRequest.extend({ changes: FileChanges.optional() });
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;
