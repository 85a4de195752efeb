import { isRecord } from "../../../base/is-record.js";
import { jsonValue, parsed } from "../../../base/parse.js";
import { mask } from "../../../base/text/redaction.js";
import type { Tool } from "../../../tools/tool.js";
import { messageOf } from "../../runtime/failures.js";
import type { RunnableCallItem } from "./open-calls.js";

/** A call that a turn is about to run. */
export interface PendingCall {
  readonly call: RunnableCallItem;
  /** Whether a crash left it in the file; such a call always needs approval, whatever the policy says. */
  readonly isLeftOver: boolean;
}

/** A call with parsed arguments, or the reason for the model why it cannot run. */
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

/** The model must repeat the call: the file does not contain its real arguments. */
const redactedArgumentsProblem = "not run: a secret in its arguments was not written to disk; make the call again";

export function prepareCall(
  { call, isLeftOver }: PendingCall,
  toolNamed: (name: string) => Tool | undefined,
): PreparedCall {
  // The provider's own name for running a command; it runs, and is approved, as our shell tool.
  const isLocalShell = call.type === "local_shell_call";
  const name = isLocalShell ? "local_shell" : call.name;
  const tool = toolNamed(isLocalShell ? "shell" : name);
  if (tool === undefined) return { type: "refused", call, reason: `unknown tool ${name}` };
  if (call.type === "custom_tool_call" && tool.freeform !== true) {
    return { type: "refused", call, reason: `${name} needs JSON arguments, not text; nothing was run` };
  }
  const written = writtenArguments(call);
  if (isLeftOver && written.includes(mask)) return { type: "refused", call, reason: redactedArgumentsProblem };
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

/** Converts to the arguments of our shell tool; unknown keys are kept, so that it rejects them by name. */
function shellArguments({ working_directory: workdir, ...action }: Readonly<Record<string, unknown>>): unknown {
  const given = Object.entries({ workdir, ...action });
  return Object.fromEntries(given.filter(([key, value]) => key !== "type" && !isAbsent(value)));
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || (isRecord(value) && Object.keys(value).length === 0);
}
