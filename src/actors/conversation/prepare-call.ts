import { check } from "../../messages/parse.js";
import type { Tool, ToolScope } from "../../tools/tool.js";
import { messageOf } from "../system/failures.js";
import type { AdmittedCall } from "./admit-call.js";
import type { CallItem } from "./open-calls.js";

/** A call whose arguments have been read: what will run, or what the model is told instead. */
export type PreparedCall =
  | {
      readonly type: "run";
      readonly call: CallItem;
      readonly callId: string;
      readonly name: string;
      readonly tool: Tool;
      readonly args: unknown;
      readonly command: ReturnType<Tool["command"]>;
    }
  | { readonly type: "refused"; readonly call: CallItem; readonly reason: string };

export function prepareCall(
  { call, problem }: AdmittedCall,
  tools: ReadonlyMap<string, Tool>,
  scope: ToolScope,
): PreparedCall {
  if (problem !== undefined) return { type: "refused", call, reason: problem };
  const name = call.type === "local_shell_call" ? "local_shell" : call.name;
  const tool = call.type === "function_call" ? tools.get(name) : undefined;
  if (call.type !== "function_call" || tool === undefined) {
    return { type: "refused", call, reason: `there is no tool named ${name}` };
  }
  try {
    const args = argumentsOf(call.arguments, tool);
    const command = tool.command(args, scope);
    return { type: "run", call, callId: call.call_id, name, tool, args, command };
  } catch (error) {
    return { type: "refused", call, reason: `${messageOf(error)}; nothing was run` };
  }
}

/** What the schema makes of them, with its defaults. */
function argumentsOf(text: string, tool: Tool): unknown {
  const value: unknown = JSON.parse(text);
  check(tool.parameters, value, `the arguments of ${tool.name}`);
  return tool.parameters.parse(value);
}
