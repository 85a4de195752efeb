import type { Event } from "../../messages/event.js";
import type { FileChange } from "../../messages/tools/file-change.js";

/** Returns the number of characters that only the event holds; items and messages are in the history anyway. */
export function eventWeight({ msg }: Event): number {
  switch (msg.type) {
    case "exec_command_output_delta":
      return msg.chunk.length;
    case "exec_command_end":
      return msg.stdout.length + msg.stderr.length;
    case "patch_apply_begin":
      return Object.values(msg.changes).reduce((sum, change) => sum + changeWeight(change), 0);
    case "agent_message_delta":
    case "agent_reasoning_delta":
    case "tool_call_delta":
      return msg.delta.length;
    default:
      return 0;
  }
}

function changeWeight(change: FileChange): number {
  return change.type === "update" ? change.unified_diff.length : change.content.length;
}
