import type { Conversation } from "../../../actors/conversation/handle.js";
import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import type { Event, EventMsg } from "../../../messages/event.js";

/**
 * Its signal is aborted when an approval request no longer needs an answer, because it timed out or was answered
 * elsewhere.
 */
export function watchRequestEnd(
  conversation: Conversation,
  request: ApprovalRequest,
  seq: number,
): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController();
  // A separate reader, so that the renderer still gets these events.
  const events = conversation.events({ since: seq + 1 });
  void watch(events, request, over);
  return {
    signal: over.signal,
    [Symbol.dispose]: () => void events.return?.(),
  };
}

async function watch(events: AsyncIterable<Event>, request: ApprovalRequest, over: AbortController): Promise<void> {
  for await (const { msg } of events) {
    if (endsRequest(msg, request)) break;
  }
  over.abort();
}

/** True if the call runs or has its output, or if its turn has ended. */
function endsRequest(msg: EventMsg, { call_id, turn_id }: ApprovalRequest): boolean {
  switch (msg.type) {
    case "exec_command_begin":
    case "patch_apply_begin":
      return msg.call_id === call_id;
    case "raw_response_item":
      return (Object(msg.item) as { readonly call_id?: unknown }).call_id === call_id;
    case "task_complete":
    case "turn_aborted":
      return msg.turn_id === turn_id;
    default:
      return false;
  }
}
