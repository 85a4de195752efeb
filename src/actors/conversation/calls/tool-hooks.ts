import { errorMessage } from "../../../base/error-message.js";
import { parsed } from "../../../base/parse.js";
import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import type { HookEvent, HookInput } from "../../../messages/hooks.js";
import type { PolicyDecision } from "../../../tools/policy/approval-policy.js";
import { protectedReason } from "../../../tools/policy/protected-paths.js";
import type { CommandLine } from "../../../tools/tool.js";
import { fromHookInput, matchedNames, toHookTool } from "../hooks/tool-names.js";
import type { CallContext, CallEnd, RunnableCall } from "./call-context.js";
import { changedArgumentsText } from "./call-items.js";

/** A call after its hooks. */
interface HookedCall {
  readonly call: RunnableCall;
  /** Texts that the model gets with the output. */
  readonly notes: readonly string[];
}

/** Runs the hooks before a tool; returns how the call ends if they block it. */
export async function beforeTool(
  call: RunnableCall,
  context: CallContext,
): Promise<HookedCall | { readonly end: CallEnd; readonly notes: readonly string[] }> {
  const { hooks } = context;
  if (hooks?.has("PreToolUse") !== true) return { call, notes: [] };
  const outcome = await hooks.run({ event: "PreToolUse", input: toolInput(call, context), ...common(call, context) });
  const notes = outcome.contexts.map((text) => hookNote("PreToolUse", text));
  if (outcome.stop !== undefined) context.budget.stop(outcome.stop);
  const block = outcome.block ?? outcome.stop;
  if (block !== undefined) return { end: refused(call, `a hook blocked it: ${block}`), notes };
  const permission = outcome.permission === undefined ? {} : { hookPermission: outcome.permission };
  if (outcome.updatedInput === undefined) return { call: { ...call, ...permission }, notes };
  const changed = fromHookInput(call.name, outcome.updatedInput);
  try {
    const args = parsed(call.tool.parameters, changed, `the arguments that a hook has set for ${call.name}`);
    const changedCall = { ...call, ...permission, args, changedArguments: changed };
    return {
      call: changedCall,
      notes: [hookNote("PreToolUse", context.maskOutput(changedArgumentsText(changed))), ...notes],
    };
  } catch (error) {
    return { end: refused(call, errorMessage(error)), notes };
  }
}

/** Runs the hooks after a tool; returns texts that the model gets with the output. */
export async function afterTool(
  call: RunnableCall,
  response: { readonly success: boolean; readonly content: string },
  context: CallContext,
): Promise<readonly string[]> {
  const { hooks, budget } = context;
  if (hooks?.has("PostToolUse") !== true || budget.signal.aborted) return [];
  const input = { ...toolInput(call, context), tool_response: response };
  const outcome = await hooks.run({ event: "PostToolUse", input, ...common(call, context) });
  if (outcome.stop !== undefined) budget.stop(outcome.stop);
  const texts = [...(outcome.block === undefined ? [] : [outcome.block]), ...outcome.contexts];
  return texts.map((text) => hookNote("PostToolUse", text));
}

/**
 * Applies what hooks said before the tool to the decision of the policy. They can make it stricter, and answer a
 * question, but allow nothing that is refused, no left-over call and no change of a protected file.
 */
export function hookedDecision(verdict: PolicyDecision, call: RunnableCall, command: CommandLine): PolicyDecision {
  const { hookPermission: permission } = call;
  if (permission === undefined || verdict.type === "refuse") return verdict;
  if (permission.decision === "ask") {
    if (verdict.type === "ask") return verdict;
    return { ...verdict, type: "ask", reason: permission.reason || "a hook asks for approval" };
  }
  if (verdict.type === "run" || !mayBeAllowed(call, command)) return verdict;
  const { reason: _, ...others } = verdict;
  return { ...others, type: "run" };
}

/** Runs the hooks before a person is asked; returns their decision, if they make one. */
export async function decideByHooks(
  call: RunnableCall,
  request: ApprovalRequest,
  command: CommandLine,
  context: CallContext,
): Promise<ReviewDecision | undefined> {
  const { hooks, approvals, turn } = context;
  if (hooks?.has("PermissionRequest") !== true) return undefined;
  // A request that was shown before belongs to the user.
  if (approvals.unanswered(call.callId) !== undefined) return undefined;
  const input = { ...toolInput(call, context), reason: request.reason ?? "" };
  const { answer, block, stop } = await hooks.run({ event: "PermissionRequest", input, ...common(call, context) });
  if (stop !== undefined) context.budget.stop(stop);
  const decision = reviewDecision(answer, block ?? stop);
  if (decision === undefined || (decision === "approved" && !mayBeAllowed(call, command))) return undefined;
  approvals.recordUnasked(request, decision, turn.submissionId);
  return decision;
}

function reviewDecision(
  answer: { readonly behavior: "allow" | "deny"; readonly message: string; readonly interrupt: boolean } | undefined,
  block: string | undefined,
): ReviewDecision | undefined {
  if (block !== undefined) return { denied: { rejection: `a hook blocked it: ${block}` } };
  if (answer === undefined) return undefined;
  if (answer.behavior === "allow") return "approved";
  return answer.interrupt ? "abort" : { denied: { rejection: answer.message || "a hook denied it" } };
}

/** Left-over calls and changes of protected files are for a person to decide. */
function mayBeAllowed({ isLeftOver, args }: RunnableCall, { changes = {} }: CommandLine): boolean {
  const { path } = Object(args) as { readonly path?: unknown };
  return (
    !isLeftOver &&
    ![...Object.keys(changes), ...(typeof path === "string" ? [path] : [])].some(
      (each) => protectedReason(each) !== undefined,
    )
  );
}

function toolInput(
  { name, args, callId }: RunnableCall,
  { settings }: CallContext,
): Pick<
  Extract<HookInput, { hook_event_name: "PreToolUse" }>,
  "tool_name" | "cody_tool_name" | "tool_input" | "tool_use_id"
> {
  return { ...toHookTool(name, Object(args) as Record<string, unknown>, settings.cwd), tool_use_id: callId };
}

function common({ name }: RunnableCall, context: CallContext) {
  const { settings, budget } = context;
  return {
    names: matchedNames(name),
    settings,
    signal: budget.signal,
    warn: (message: string) => context.publish({ type: "warning", message }),
  };
}

function refused({ name }: RunnableCall, reason: string): CallEnd {
  return { type: "output", text: `${name} was not run: ${reason}`, success: false };
}

function hookNote(event: HookEvent, text: string): string {
  return `[${event} hook] ${text}`;
}
