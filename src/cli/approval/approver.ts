import type { ExecApprovalRequest, ReviewDecision } from "../../messages/approval.js";

/** Decides about an approval request. When the signal is aborted nobody waits for the decision any more. */
export type Approver = (request: ExecApprovalRequest, signal: AbortSignal) => Promise<ReviewDecision>;
