import type { ApprovalRequest, ReviewDecision } from "./approval.js";

/** The arguments that a decision sets, if it sets any. */
export function changedArguments(decision: ReviewDecision): Readonly<Record<string, unknown>> | undefined {
  if (typeof decision !== "object" || !("approved_with_arguments" in decision)) return undefined;
  return decision.approved_with_arguments.arguments;
}

/** Whether a request is a question of a running call; otherwise it is about the call itself. */
export function isQuestion({ call_id, approval_id }: Pick<ApprovalRequest, "call_id" | "approval_id">): boolean {
  return call_id.endsWith(`:${approval_id}`);
}
