import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Publish, Recording } from "../turn/recording.js";
import type { ConversationState } from "../state/state.js";
import type { ApprovalMsg } from "../../../messages/event.js";

interface OpenRequest {
  readonly request: ApprovalRequest;
  decide(decision: ReviewDecision): void;
}

/**
 * The approval requests that wait for an answer. Each is written to the rollout before it is shown, and answered once.
 */
export class Approvals {
  readonly #state: Readonly<ConversationState>;
  readonly #rollout: Rollout;
  readonly #recording: Recording;
  readonly #publish: Publish;
  readonly #open = new Map<string, OpenRequest>();

  constructor(state: Readonly<ConversationState>, rollout: Rollout, recording: Recording, publish: Publish) {
    this.#state = state;
    this.#rollout = rollout;
    this.#recording = recording;
    this.#publish = publish;
  }

  /** Returns a request for this call that was never answered because the process died. */
  unanswered(callId: string): ApprovalRequest | undefined {
    const recorded = this.#state.approvals.get(callId);
    return recorded?.decision === undefined ? recorded?.request : undefined;
  }

  /** Asks and resolves with the answer; with `abort` when the turn ends first. */
  async ask(
    request: ApprovalRequest,
    options: { readonly submissionId: string; readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<ReviewDecision> {
    const { submissionId, signal, timeoutMs } = options;
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
      const timer = setTimeout(() => this.answer(request.approval_id, "timed_out", submissionId), timeoutMs);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#open.set(request.approval_id, { request, decide });
      this.#publish(approvalMsg(request), submissionId);
    });
  }

  /** Returns whether there was such a request. `id` may be its own id, or that of its call as in older clients. */
  answer(id: string, decision: ReviewDecision, submissionId: string): boolean {
    const open = this.#open.get(id) ?? [...this.#open.values()].find(({ request }) => request.call_id === id);
    if (open === undefined) return false;
    const { approval_id, call_id } = open.request;
    this.#recording.line(
      { type: "cody", payload: { type: "approval_decided", approval_id, call_id, decision } },
      submissionId,
    );
    open.decide(decision);
    return true;
  }
}

function approvalMsg({ changes, ...request }: ApprovalRequest): ApprovalMsg {
  if (changes === undefined) return { type: "exec_approval_request", ...request };
  return { type: "apply_patch_approval_request", ...request, changes };
}
