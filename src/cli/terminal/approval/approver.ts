import type { ApprovalRequest, ReviewDecision } from "../../../messages/approval.js";

/** Decides about an approval request. When the signal is aborted nobody waits for the decision any more. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ReviewDecision>;
