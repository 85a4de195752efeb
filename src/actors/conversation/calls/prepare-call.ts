import { isRecord } from "../../../base/is-record.js";
import { jsonValue, parsed } from "../../../base/parse.js";
import { mask } from "../../../messages/redaction.js";
import type { Tool } from "../../../tools/tool.js";
import { messageOf } from "../../runtime/failures.js";
import type { RunnableCallItem } from "./open-calls.js";

/** A call a turn has come to. */
export interface PendingCall {
  readonly call: RunnableCallItem;
  /** Whether it comes from the file, where it was left by a crash: then it is asked about whatever the policy says. */
  readonly isLeftOver: boolean;
}

/** A call whose arguments have been read: what will run, or what the model is told instead. */
export type PreparedCall =
  | {
      readonly type: "run";
      readonly call: RunnableCallItem;
      readonly callId: string;
      readonly name: string;
      readonly tool: Tool;
      readonly args: unknown;
      readonly isLeftOver: boolean;
    }
  | { readonly type: "refused"; readonly call: RunnableCallItem; readonly reason: string };

/** In this process the model must say it again: the file does not have what was to be run. */
const notWhole = "not run: a secret in its arguments was not written to disk; make the call again";

export function prepareCall(
  { call, isLeftOver }: PendingCall,
  toolNamed: (name: string) => Tool | undefined,
): PreparedCall {
  // The provider's own name for running a command; it is run, and asked about, as our shell.
  const isLocalShell = call.type === "local_shell_call";
  const name = isLocalShell ? "local_shell" : call.name;
  const tool = toolNamed(isLocalShell ? "shell" : name);
  if (tool === undefined) return { type: "refused", call, reason: `there is no tool named ${name}` };
  if (call.type === "custom_tool_call" && tool.freeform !== true) {
    return { type: "refused", call, reason: `${name} takes JSON arguments and no text; nothing was run` };
  }
  const written = writtenArguments(call);
  if (isLeftOver && written.includes(mask)) return { type: "refused", call, reason: notWhole };
  try {
    const what = `the arguments of ${name}`;
    const given = givenArguments(call, what);
    const args: unknown = parsed(tool.parameters, given, what);
    return { type: "run", call, callId: call.call_id ?? "", name: tool.name, tool, args, isLeftOver };
  } catch (error) {
    return { type: "refused", call, reason: `${messageOf(error)}; nothing was run` };
  }
}

function writtenArguments(call: RunnableCallItem): string {
  if (call.type === "local_shell_call") return JSON.stringify(call.action);
  return call.type === "custom_tool_call" ? call.input : call.arguments;
}

function givenArguments(call: RunnableCallItem, what: string): unknown {
  if (call.type === "local_shell_call") return shellArguments(call.action);
  return call.type === "custom_tool_call" ? { input: call.input } : jsonValue(call.arguments, what);
}

/** The arguments of our shell; what it has no word for stays, so that it is refused by its name. */
function shellArguments({ working_directory: workdir, ...action }: Readonly<Record<string, unknown>>): unknown {
  const given = Object.entries({ workdir, ...action });
  return Object.fromEntries(given.filter(([key, value]) => key !== "type" && !isAbsent(value)));
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || (isRecord(value) && Object.keys(value).length === 0);
}
