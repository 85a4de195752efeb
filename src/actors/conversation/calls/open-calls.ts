import type { ResponseItem, ToolOutputContent } from "../../../messages/response-item.js";
import type { ConversationState, RecordedApproval } from "../state/state.js";

/** An item that requests a tool call. */
export type RunnableCallItem = Extract<
  ResponseItem,
  { type: "function_call" | "custom_tool_call" | "local_shell_call" }
>;

export function isRunnableCall(item: ResponseItem): item is RunnableCallItem {
  return item.type === "function_call" || item.type === "custom_tool_call" || item.type === "local_shell_call";
}

/** Returns the tool name of a call and its arguments. */
export function nameAndArguments(call: RunnableCallItem): { readonly name: string; readonly args: string } {
  if (call.type === "local_shell_call") return { name: "local_shell", args: JSON.stringify(call.action) };
  return { name: call.name, args: call.type === "function_call" ? call.arguments : call.input };
}

/** Returns the calls in history that have no output yet. */
export function openCalls(history: readonly ResponseItem[]): RunnableCallItem[] {
  const open = new Map<string, RunnableCallItem>();
  for (const item of history) {
    if (isRunnableCall(item)) {
      if (typeof item.call_id === "string") open.set(item.call_id, item);
    } else if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
      open.delete(item.call_id);
    }
  }
  return [...open.values()];
}

/** Returns one output for each call, of the matching type; marked when the call is known to have failed. */
export function callOutputs(
  calls: readonly RunnableCallItem[],
  output: ToolOutputContent,
  end?: { readonly success: boolean },
): ResponseItem[] {
  const mark = end?.success === false ? { success: false as const } : {};
  return calls.flatMap((call): ResponseItem[] => {
    if (typeof call.call_id !== "string") return [];
    const type = call.type === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output";
    return [{ type, call_id: call.call_id, output, ...mark }];
  });
}

/**
 * Returns the calls that the open turn had not started when its process died: from the first with an unanswered
 * approval request on. Calls that change something run in order, so none after it has begun.
 */
export function unstartedCalls({ history, openTurn, approvals }: ConversationState): RunnableCallItem[] {
  if (openTurn === undefined) return [];
  const open = openCalls(history);
  const first = open.findIndex(({ call_id }) => isUnanswered(approvals.get(call_id ?? "")));
  return first < 0 ? [] : open.slice(first);
}

export function isUnanswered(approval: RecordedApproval | undefined): boolean {
  return approval !== undefined && approval.decision === undefined;
}
