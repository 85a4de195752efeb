import { type ApprovalRequest, isApproval, type ReviewDecision } from "../../../messages/tools/approval.js";
import { changedArguments, isQuestion } from "../../../messages/tools/approval-facts.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Publish, Recording } from "../turn/recording.js";
import { isUnanswered, type ConversationState, type RecordedApproval } from "../state/state.js";
import type { ConversationAnswers } from "../../../messages/actors/conversation.js";
import type { ApprovalMsg } from "../../../messages/event.js";

type ApprovalAnswer = ConversationAnswers["answer_approval"];

interface OpenRequest {
  readonly request: ApprovalRequest;
  /** The time at which it times out. */
  readonly deadline: number;
  decide(decision: ReviewDecision): void;
}

interface ApprovalParts {
  readonly state: Readonly<ConversationState>;
  readonly rollout: Rollout;
  readonly recording: Recording;
  readonly publish: Publish;
  /** Whether this process had the conversation open before, so that its requests have been shown already. */
  readonly isReopened: boolean;
  readonly now: () => Date;
  /** Called when a request is shown for the first time in this process. */
  readonly onAsked: (request: ApprovalRequest, submissionId: string, signal: AbortSignal) => void;
}

/**
 * The approval requests that wait for an answer. Each is written to the rollout before it is shown, and answered once.
 */
export class Approvals {
  readonly #state: Readonly<ConversationState>;
  readonly #rollout: Rollout;
  readonly #recording: Recording;
  readonly #publish: Publish;
  readonly #isReopened: boolean;
  readonly #now: () => Date;
  readonly #onAsked: ApprovalParts["onAsked"];
  readonly #open = new Map<string, OpenRequest>();
  /** Callers that wait until the answer to a recorded request is applied, by approval id. */
  readonly #waiting = new Map<string, ((outcome: ApprovalAnswer) => void)[]>();

  constructor(parts: ApprovalParts) {
    this.#state = parts.state;
    this.#rollout = parts.rollout;
    this.#recording = parts.recording;
    this.#publish = parts.publish;
    this.#isReopened = parts.isReopened;
    this.#now = parts.now;
    this.#onAsked = parts.onAsked;
  }

  /** Returns a request for this call whose answer no turn has applied, because the process died or slept. */
  unanswered(callId: string): ApprovalRequest | undefined {
    const recorded = this.#state.approvals.get(callId);
    return recorded?.decision === undefined ? recorded?.request : undefined;
  }

  /** The time at which the first waiting request times out; undefined when none waits. */
  get deadline(): number | undefined {
    const deadlines = [...this.#open.values()].map(({ deadline }) => deadline);
    return deadlines.length === 0 ? undefined : Math.min(...deadlines);
  }

  /** Asks and resolves with the answer; with `abort` when the turn ends first. */
  async ask(
    request: ApprovalRequest,
    options: { readonly submissionId: string; readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<ReviewDecision> {
    const { submissionId, signal, timeoutMs } = options;
    const earlier = this.unanswered(request.call_id)?.approval_id;
    if (earlier !== request.approval_id) {
      this.#recording.line({ type: "cody", payload: { type: "approval_requested", ...request } }, submissionId);
    }
    await this.#rollout.flush();
    if (signal.aborted) return "abort";
    const { answer } = this.#state.approvals.get(request.call_id) ?? {};
    if (answer !== undefined) {
      this.#recordDecision(request, answer, submissionId);
      return answer;
    }
    return await new Promise<ReviewDecision>((resolve) => {
      const decide = (decision: ReviewDecision): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#open.delete(request.approval_id);
        resolve(decision);
      };
      const onAbort = (): void => decide("abort");
      const waitMs = Math.max(0, timeoutMs - this.#waitedMs(request));
      const timer = setTimeout(() => this.answer(request.approval_id, "timed_out", submissionId), waitMs);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#open.set(request.approval_id, { request, decide, deadline: Date.now() + waitMs });
      this.#publish(approvalMsg(request), submissionId);
      if (!this.#isReopened || earlier !== request.approval_id) this.#onAsked(request, submissionId, signal);
      if (earlier !== undefined && earlier !== request.approval_id)
        this.#settle(earlier, rejected(changedText(earlier, request.approval_id)));
    });
  }

  /** The time that a request has waited already, before the conversation slept. A later process asks anew. */
  #waitedMs({ call_id }: ApprovalRequest): number {
    if (!this.#isReopened) return 0;
    return Math.max(0, this.#now().getTime() - Date.parse(this.#state.approvals.get(call_id)?.requestedAt ?? ""));
  }

  /**
   * Answers a request, and returns why that is not possible, if it is not. `id` may be its own id, or that of its call as
   * in older clients. If the turn has not asked again since the conversation was opened, the answer is only recorded.
   */
  answer(id: string, decision: ReviewDecision, submissionId: string): string | undefined {
    const open = this.#open.get(id) ?? [...this.#open.values()].find(({ request }) => request.call_id === id);
    if (open !== undefined) {
      if (isQuestion(open.request) && changedArguments(decision) !== undefined)
        return `the question ${id} of a running call has no arguments that can be changed`;
      this.#recordDecision(open.request, decision, submissionId);
      open.decide(decision);
      return undefined;
    }
    const recorded = this.#recorded(id);
    if (recorded === undefined) return `no open approval request ${id}`;
    const { approval_id, call_id } = recorded.request;
    if (!isUnanswered(recorded)) {
      return `no open approval request ${id}: it was answered before: ${decisionText(recorded.decision ?? recorded.answer)}`;
    }
    this.#recording.line(
      { type: "cody", payload: { type: "approval_answered", approval_id, call_id, decision } },
      submissionId,
    );
    return undefined;
  }

  /** Resolves when the answer to a request is applied, or cannot be applied any more. */
  applied(approvalId: string): Promise<ApprovalAnswer> {
    const recorded = this.#recorded(approvalId);
    if (recorded?.decision !== undefined) return Promise.resolve({ status: "answered" });
    return new Promise((resolve) => {
      this.#waiting.set(approvalId, [...(this.#waiting.get(approvalId) ?? []), resolve]);
    });
  }

  /** Records a decision that was made without asking a person. */
  recordUnasked(request: ApprovalRequest, decision: ReviewDecision, submissionId: string): void {
    this.#recording.line({ type: "cody", payload: { type: "approval_requested", ...request } }, submissionId);
    this.#recordDecision(request, decision, submissionId);
  }

  /** Called when no turn is left that could ask again. */
  turnEnded(): void {
    for (const id of this.#waiting.keys())
      this.#settle(id, rejected(`no open approval request ${id}: its turn has ended`));
  }

  #recordDecision({ approval_id, call_id }: ApprovalRequest, decision: ReviewDecision, submissionId: string): void {
    const changed = changedArguments(decision);
    const decided = changed === undefined ? { decision } : { decision: "approved" as const, arguments: changed };
    this.#recording.line(
      { type: "cody", payload: { type: "approval_decided", approval_id, call_id, ...decided } },
      submissionId,
    );
    this.#settle(approval_id, { status: "answered" });
  }

  #settle(approvalId: string, outcome: ApprovalAnswer): void {
    const waiting = this.#waiting.get(approvalId) ?? [];
    this.#waiting.delete(approvalId);
    for (const resolve of waiting) resolve(outcome);
  }

  /** Returns a recorded request of the open turn. */
  #recorded(id: string): RecordedApproval | undefined {
    return [...this.#state.approvals.values()].find(
      ({ request }) => request.approval_id === id || request.call_id === id,
    );
  }
}

function rejected(message: string): ApprovalAnswer {
  return { status: "rejected", message };
}

function changedText(id: string, newId: string): string {
  return `no open approval request ${id}: the command has changed since; the request for the new one is ${newId}`;
}

function decisionText(decision: ReviewDecision | undefined): string {
  if (typeof decision === "object") return isApproval(decision) ? "approved" : "denied";
  return decision ?? "unknown";
}

function approvalMsg({ changes, ...request }: ApprovalRequest): ApprovalMsg {
  if (changes === undefined) return { type: "exec_approval_request", ...request };
  return { type: "apply_patch_approval_request", ...request, changes };
}
