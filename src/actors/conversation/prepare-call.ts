import { jsonValue, parsed } from "../../messages/parse.js";
import { mask } from "../../messages/redaction.js";
import type { Tool } from "../../tools/tool.js";
import { messageOf } from "../system/failures.js";
import type { CallItem } from "./open-calls.js";

/** A call a turn has come to. */
export interface PendingCall {
  readonly call: CallItem;
  /** Whether it comes from the file, where it was left by a crash: then it is asked about whatever the policy says. */
  readonly isLeftOver: boolean;
}

/** A call whose arguments have been read: what will run, or what the model is told instead. */
export type PreparedCall =
  | {
      readonly type: "run";
      readonly call: CallItem;
      readonly callId: string;
      readonly name: string;
      readonly tool: Tool;
      readonly args: unknown;
      readonly isLeftOver: boolean;
    }
  | { readonly type: "refused"; readonly call: CallItem; readonly reason: string };

/** In this process the model must say it again: the file does not have what was to be run. */
const notWhole = "not run: a secret in its arguments was not written to disk; make the call again";

export function prepareCall(
  { call, isLeftOver }: PendingCall,
  toolNamed: (name: string) => Tool | undefined,
): PreparedCall {
  const name = call.type === "local_shell_call" ? "local_shell" : call.name;
  const tool = call.type === "local_shell_call" ? undefined : toolNamed(name);
  if (call.type === "local_shell_call" || tool === undefined) {
    return { type: "refused", call, reason: `there is no tool named ${name}` };
  }
  if (call.type === "custom_tool_call" && tool.freeform !== true) {
    return { type: "refused", call, reason: `${name} takes JSON arguments and no text; nothing was run` };
  }
  const written = call.type === "custom_tool_call" ? call.input : call.arguments;
  if (isLeftOver && written.includes(mask)) return { type: "refused", call, reason: notWhole };
  try {
    const what = `the arguments of ${name}`;
    const given = call.type === "custom_tool_call" ? { input: written } : jsonValue(written, what);
    const args: unknown = parsed(tool.parameters, given, what);
    return { type: "run", call, callId: call.call_id, name, tool, args, isLeftOver };
  } catch (error) {
    return { type: "refused", call, reason: `${messageOf(error)}; nothing was run` };
  }
}
