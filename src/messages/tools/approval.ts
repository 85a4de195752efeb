import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { isDeeperThan } from "../../base/is-deeper-than.js";
import { FileChanges } from "./file-change.js";

/** The words that a command begins with. */
export const CommandPrefix = z.array(z.string().max(2_000)).min(1).max(200);
export type CommandPrefix = z.infer<typeof CommandPrefix>;

const maxArgumentsChars = 1_000_000;

const maxArgumentsDepth = 100;

/** The arguments of a call, as the tool's parameters describe them. */
const CallArguments = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  const problem = argumentsProblem(value);
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
});

function argumentsProblem(value: Readonly<Record<string, unknown>>): string | undefined {
  try {
    const text = JSON.stringify(value);
    if (text.length > maxArgumentsChars) return `arguments can have at most ${maxArgumentsChars} characters`;
    const copy = JSON.parse(text) as object;
    if (isDeeperThan(copy, maxArgumentsDepth))
      return `arguments can be nested at most ${maxArgumentsDepth} levels deep`;
    if (isDeepStrictEqual(copy, value)) return undefined;
  } catch {
    // It contains itself, or a bigint.
  }
  return "cannot be converted to JSON";
}

/**
 * Codex's answers to an approval request. `abort` also ends the turn; the text of a rejection is sent to the model.
 * `approved_for_session` covers such commands for the rest of the conversation, and `approved_execpolicy_amendment`
 * with the prefix that the request proposes covers them in this project for good. `approved_with_arguments` is ours: the
 * call runs once with these arguments in place of its own, unless the policy refuses it as it is now.
 */
export const ReviewDecision = z.union([
  z.enum(["approved", "approved_for_session", "denied", "abort", "timed_out"]),
  z.strictObject({ denied: z.strictObject({ rejection: z.string().max(10_000) }) }),
  z.strictObject({
    approved_execpolicy_amendment: z.strictObject({ proposed_execpolicy_amendment: CommandPrefix }),
  }),
  z.strictObject({ approved_with_arguments: z.strictObject({ arguments: CallArguments }) }),
]);
export type ReviewDecision = z.infer<typeof ReviewDecision>;

/** Whether the call may run, as it is or with the arguments of the decision. */
export function isApproval(decision: ReviewDecision | undefined): boolean {
  if (typeof decision === "object") return !("denied" in decision);
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
  /** The arguments of the call, if a hook has changed those that the model wrote. */
  arguments: z.record(z.string(), z.unknown()).optional(),
  /** The words of a rule that the answer `approved_execpolicy_amendment` adds; absent if that answer is not offered. */
  proposed_execpolicy_amendment: CommandPrefix.optional(),
  /** The beginnings of commands that `approved_for_session` covers; absent if it covers exactly this command. */
  session_prefixes: z.array(CommandPrefix).optional(),
});
export type ExecApprovalRequest = z.infer<typeof ExecApprovalRequest>;

/** Any approval request. A request for a patch lists the file changes. */
export const ApprovalRequest = ExecApprovalRequest.extend({ changes: FileChanges.optional() });
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;
