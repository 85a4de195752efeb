import type { ResponseItem, ToolOutputContent } from "../../../messages/response-item.js";
import { nameAndArguments, callOutputs } from "./open-calls.js";
import type { PreparedCall } from "./prepare-call.js";
import { runCall } from "./run-call.js";
import type { CallEnd, CallContext } from "./call-world.js";

/** Maximum number of calls that run at the same time. */
const maxParallelCalls = 8;

/** `stopped`: the user wants the turn to stop; `cut_off`: it was aborted from outside. */
export type CallsEnd = "go_on" | "stopped" | "cut_off";

/** Runs the calls of one answer: adjacent read-only calls in parallel, all others alone and in order. */
export async function runCalls(
  calls: readonly PreparedCall[],
  world: CallContext,
  record: (item: ResponseItem) => void,
): Promise<CallsEnd> {
  for (const group of groupCalls(calls)) {
    const ends = await Promise.all(group.map((call) => runPreparedCall(call, world)));
    // Recorded in call order, so that the same work produces the same history.
    for (const [index, end] of ends.entries()) {
      const call = group[index]?.call;
      if (end.type !== "output" || call === undefined) continue;
      callOutputs([call], outputContent(end), end).forEach(record);
      world.budget.callEnded({ ...nameAndArguments(call), success: end.success, output: end.text });
      if (end.whole !== undefined) world.outputs?.keep(call.call_id ?? "", end.whole);
    }
    if (ends.some(({ type }) => type === "stop")) return "stopped";
    if (world.budget.signal.aborted) return "cut_off";
  }
  return "go_on";
}

function outputContent({ text, images = [] }: Extract<CallEnd, { type: "output" }>): ToolOutputContent {
  if (images.length === 0) return text;
  return [{ type: "input_text", text }, ...images.map((image_url) => ({ type: "input_image" as const, image_url }))];
}

async function runPreparedCall(prepared: PreparedCall, world: CallContext): Promise<CallEnd> {
  world.turn.toolCalls.push(prepared.call);
  if (prepared.type === "refused") return { type: "output", text: prepared.reason, success: false };
  return await runCall(prepared, world);
}

function groupCalls(calls: readonly PreparedCall[]): PreparedCall[][] {
  const groups: PreparedCall[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last !== undefined && last.length < maxParallelCalls && [call, ...last].every(canRunInParallel))
      last.push(call);
    else groups.push([call]);
  }
  return groups;
}

/** Calls that need approval are asked about one at a time. */
function canRunInParallel(call: PreparedCall): boolean {
  return call.type === "refused" || (call.tool.readOnly && !call.isLeftOver);
}
