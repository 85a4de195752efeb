import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Publish, Recording } from "../turn/recording.js";
import type { ConversationState } from "../state/state.js";
import type { ApprovalMsg } from "../../../messages/event.js";

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
  readonly #open = new Map<string, OpenRequest>();
  /** Answers to recorded requests that the continued turn has not asked again yet, by approval id. */
  readonly #early = new Map<string, ReviewDecision>();

  constructor(parts: ApprovalParts) {
    this.#state = parts.state;
    this.#rollout = parts.rollout;
    this.#recording = parts.recording;
    this.#publish = parts.publish;
    this.#isReopened = parts.isReopened;
    this.#now = parts.now;
  }

  /** Returns a request for this call that no turn has got an answer to yet, because the process died or slept. */
  unanswered(callId: string): ApprovalRequest | undefined {
    const recorded = this.#state.approvals.get(callId);
    if (recorded?.decision === undefined) return recorded?.request;
    return this.#early.has(recorded.request.approval_id) ? recorded.request : undefined;
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
    const early = this.#early.get(request.approval_id);
    if (early !== undefined) return early;
    if (this.unanswered(request.call_id)?.approval_id !== request.approval_id) {
      this.#recording.line({ type: "cody", payload: { type: "approval_requested", ...request } }, submissionId);
    }
    await this.#rollout.flush();
    if (signal.aborted) return "abort";
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
    });
  }

  /** The time that a request has waited already, before the conversation slept. A later process asks anew. */
  #waitedMs({ call_id }: ApprovalRequest): number {
    if (!this.#isReopened) return 0;
    return Math.max(0, this.#now().getTime() - Date.parse(this.#state.approvals.get(call_id)?.requestedAt ?? ""));
  }

  /** Returns whether there was such a request. `id` may be its own id, or that of its call as in older clients. */
  answer(id: string, decision: ReviewDecision, submissionId: string): boolean {
    const open = this.#open.get(id) ?? [...this.#open.values()].find(({ request }) => request.call_id === id);
    const request = open?.request ?? this.#recorded(id);
    if (request === undefined) return false;
    const { approval_id, call_id } = request;
    this.#recording.line(
      { type: "cody", payload: { type: "approval_decided", approval_id, call_id, decision } },
      submissionId,
    );
    if (open === undefined) this.#early.set(approval_id, decision);
    else open.decide(decision);
    return true;
  }

  /** Returns a recorded request of the open turn that was never answered. */
  #recorded(id: string): ApprovalRequest | undefined {
    for (const { request, decision } of this.#state.approvals.values()) {
      if (decision === undefined && (request.approval_id === id || request.call_id === id)) return request;
    }
    return undefined;
  }
}

function approvalMsg({ changes, ...request }: ApprovalRequest): ApprovalMsg {
  if (changes === undefined) return { type: "exec_approval_request", ...request };
  return { type: "apply_patch_approval_request", ...request, changes };
}
