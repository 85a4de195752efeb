import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import { type Event, isApprovalMsg } from "../../../messages/event.js";
import { FailureCode } from "../../../messages/failure.js";
import { FailureError } from "../../../messages/failure-error.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import { isRetryable } from "../../../providers/failures/retryable.js";

/** Collects the items of the turn that a submission began; rejects when it was refused or has failed. */
export async function collectTurnItems(
  events: AsyncIterable<Event>,
  id: string,
  conversationId: string,
  answer: (request: ApprovalRequest) => Promise<void>,
): Promise<ResponseItem[]> {
  const items: ResponseItem[] = [];
  let started = false;
  for await (const { msg, id: cause } of events) {
    if (cause !== id) continue;
    if (msg.type === "task_started") started = true;
    else if (isApprovalMsg(msg)) await answer(msg);
    else if (msg.type === "raw_response_item") items.push(msg.item as ResponseItem);
    else if (msg.type === "error" && !started) throw refusalError(codeOf(msg.codex_error_info) ?? "busy", msg.message);
    else if (msg.type === "turn_aborted") return items;
    else if (msg.type === "task_complete") {
      if (msg.error === undefined || msg.error === null) return items;
      throw refusalError(codeOf(msg.error.codex_error_info) ?? "internal", msg.error.message);
    }
  }
  throw endedError(conversationId);
}

export function refusalError(code: FailureCode, message: string): FailureError {
  return new FailureError({ code, message, retryable: temporaryCodes.has(code) || isRetryable(code) });
}

/** Codes of temporary problems: other work is running, or the disk has no room. */
const temporaryCodes: ReadonlySet<FailureCode> = new Set(["busy", "not_saved"]);

function codeOf(info: unknown): FailureCode | undefined {
  return FailureCode.safeParse(info).data;
}

export function endedError(conversationId: string): FailureError {
  return refusalError("actor_stopped", `conversation ${conversationId} has ended: there are no more events`);
}
