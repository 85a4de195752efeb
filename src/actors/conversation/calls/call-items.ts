import { errorMessage } from "../../../base/error-message.js";
import { isRecord } from "../../../base/is-record.js";
import { jsonValue, parsed } from "../../../base/parse.js";
import { mask } from "../../../base/text/redaction.js";
import { shortened } from "../../../base/text/truncate.js";
import type { ResponseItem, ToolOutputContent } from "../../../messages/response-item.js";
import type { Tool } from "../../../tools/tool.js";
import type { ConversationState, RecordedApproval } from "../state/state.js";

/** The model must repeat the call: the file does not contain its real arguments. */
export const redactedArgumentsProblem =
  "not run: a secret in its arguments was not written to disk; make the call again";

/** Maximum number of calls of one answer that are run. */
const maxCallsPerAnswer = 128;

const maxShownChars = 2_000;

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
 * Returns the calls that the open turn had not started when its process died: from the first with an undecided
 * approval request on. Calls that change something run in order, so none after it has begun.
 */
export function unstartedCalls({ history, openTurn, approvals }: ConversationState): RunnableCallItem[] {
  if (openTurn === undefined) return [];
  const open = openCalls(history);
  const first = open.findIndex(({ call_id }) => isUndecided(approvals.get(call_id ?? "")));
  return first < 0 ? [] : open.slice(first);
}

/** Whether a call's request has no decision that was applied, so that the call has not run. */
export function isUndecided(approval: RecordedApproval | undefined): boolean {
  return approval !== undefined && approval.decision === undefined;
}

/** A call as it enters history, and the reason why it must not run, if any. */
export interface NormalizedCall {
  readonly call: RunnableCallItem;
  readonly problem: string | undefined;
  /** The arguments as the model wrote them. */
  readonly args: string;
}

/**
 * Makes the calls of one answer valid for history: a unique id, so that every output belongs to one call, and arguments
 * that every wire API can carry.
 */
export class CallNormalizer {
  readonly #history: readonly ResponseItem[];
  /** Collected for the first call: most answers have none. */
  #used: Set<string> | undefined;
  readonly #received = new Set<string>();
  #count = 0;

  constructor(history: readonly ResponseItem[]) {
    this.#history = history;
  }

  normalize(item: RunnableCallItem): NormalizedCall {
    const id = item.call_id ?? "";
    const isDoubled = this.#received.has(id);
    this.#received.add(id);
    this.#count += 1;
    const { args } = nameAndArguments(item);
    const { call, problem } = withObjectArguments(this.#withUniqueId(item));
    if (isDoubled) return { call, args, problem: "duplicate call id in one answer; nothing was run" };
    if (this.#count <= maxCallsPerAnswer) return { call, args, problem };
    return { call, args, problem: `more than ${maxCallsPerAnswer} calls in one answer; this one was not run` };
  }

  /** Some servers number calls from zero in every answer. */
  #withUniqueId(item: RunnableCallItem): RunnableCallItem {
    const id = item.call_id;
    if (typeof id !== "string") return item;
    const used = (this.#used ??= callIds(this.#history));
    let uniqueId = id;
    for (let count = 2; used.has(uniqueId); count += 1) uniqueId = `${id}_${count}`;
    used.add(uniqueId);
    return uniqueId === id ? item : { ...item, call_id: uniqueId };
  }
}

function callIds(history: readonly ResponseItem[]): Set<string> {
  return new Set(history.flatMap((item) => (isRunnableCall(item) ? [item.call_id ?? ""] : [])));
}

function withObjectArguments(call: RunnableCallItem): Omit<NormalizedCall, "args"> {
  if (call.type !== "function_call") return { call, problem: undefined };
  // Some models call a tool without parameters with empty arguments.
  if (call.arguments.trim() === "") return { call: { ...call, arguments: "{}" }, problem: undefined };
  if (isJsonObject(call.arguments)) return { call, problem: undefined };
  const problem = `the arguments of ${call.name} are not a JSON object; nothing was run`;
  return { call: { ...call, arguments: "{}" }, problem };
}

function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

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
      /** The arguments before they were parsed, if they are not those of the model's call. */
      readonly changedArguments?: Readonly<Record<string, unknown>>;
      /** The permission that hooks gave it. */
      readonly hookPermission?: { readonly decision: "allow" | "ask"; readonly reason: string };
    }
  | { readonly type: "refused"; readonly call: RunnableCallItem; readonly reason: string };

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
    const rawArguments = rawArgumentsOf(call, what);
    const args: unknown = parsed(tool.parameters, rawArguments, what);
    return { type: "run", call, callId: call.call_id ?? "", name: tool.name, tool, args, isLeftOver };
  } catch (error) {
    return { type: "refused", call, reason: `${errorMessage(error)}; nothing was run` };
  }
}

/** Tells the model about changed arguments; they are recognized by their beginning. */
export function changedArgumentsText(changed: Readonly<Record<string, unknown>>): string {
  return `the arguments were changed to ${shortened(JSON.stringify(changed), maxShownChars)}`;
}

function writtenArguments(call: RunnableCallItem): string {
  if (call.type === "local_shell_call") return JSON.stringify(call.action);
  return call.type === "custom_tool_call" ? call.input : call.arguments;
}

function rawArgumentsOf(call: RunnableCallItem, what: string): unknown {
  if (call.type === "local_shell_call") return shellArguments(call.action);
  return call.type === "custom_tool_call" ? { input: call.input } : jsonValue(call.arguments, what);
}

/** Converts to the arguments of our shell tool; unknown keys are kept, so that it rejects them by name. */
function shellArguments({ working_directory: workdir, ...action }: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries({ workdir, ...action });
  return Object.fromEntries(entries.filter(([key, value]) => key !== "type" && !isAbsent(value)));
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || (isRecord(value) && Object.keys(value).length === 0);
}
