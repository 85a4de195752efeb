import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";

/** Decides an approval request. When the signal is aborted, the decision is no longer needed. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ReviewDecision>;
