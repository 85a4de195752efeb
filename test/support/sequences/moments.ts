import type { EventMsg } from "../../../src/messages/event.js";
import type { MockReply } from "../../../src/mock-llm/script.js";
import { callsReply, slowReply, waitReply } from "./replies.js";
import type { Moment } from "./steps.js";

/** A reply during which the moment occurs. */
export function replyFor(when: Moment, thinks: boolean): MockReply {
  if (when === "in_tool") return waitReply(thinks);
  return when === "awaiting_approval" ? callsReply(["approved", "denied"], { thinks, says: true }) : slowReply(thinks);
}

/** A predicate that is true at the event where the moment occurs; while streaming, after this many deltas. */
export function momentOf(when: Moment, deltas: number): (msg: EventMsg) => boolean {
  let left = deltas;
  return ({ type }) => {
    switch (when) {
      case "asked":
        return type === "task_started";
      case "streaming":
        if (type === "agent_message_delta" || type === "agent_reasoning_delta") left -= 1;
        return left < 0;
      case "in_tool":
        return type === "exec_command_begin";
      case "awaiting_approval":
        return type === "exec_approval_request";
      default:
        return when satisfies never;
    }
  };
}
