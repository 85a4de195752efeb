import { isApprovalMsg } from "../../messages/approval-msg.js";
import type { ApprovalRequest } from "../../messages/approval.js";
import { FailureError } from "../../messages/errors.js";
import type { Event } from "../../messages/event.js";
import { FailureCode } from "../../messages/failure.js";
import type { ResponseItem } from "../../messages/response-item.js";

/** The items of the turn a submission began; rejects when it was refused or has failed. */
export async function turnItems(
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
    else if (msg.type === "error" && !started) throw refused("busy", msg.message);
    else if (msg.type === "turn_aborted") return items;
    else if (msg.type === "task_complete") {
      if (msg.error === undefined || msg.error === null) return items;
      throw refused(FailureCode.safeParse(msg.error.codex_error_info).data ?? "internal", msg.error.message);
    }
  }
  throw ended(conversationId);
}

export function refused(code: FailureCode, message: string): FailureError {
  return new FailureError({ code, message, retryable: code === "busy" });
}

export function ended(conversationId: string): FailureError {
  return refused("actor_stopped", `conversation ${conversationId} has ended: there are no more events`);
}
