import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { errorMessage } from "../../../base/error-message.js";
import { parsed } from "../../../base/parse.js";
import { mask } from "../../../base/text/redaction.js";
import { type ApprovalRequest, isApproval, type ReviewDecision } from "../../../messages/tools/approval.js";
import { changedArguments } from "../../../messages/tools/approval-facts.js";
import { addKnowledge } from "../../../tools/add-knowledge.js";
import type { CommandSandbox } from "../../../tools/exec/command-sandbox.js";
import {
  byToolRules,
  decideKnowledge,
  judgeCall,
  type PolicyContext,
  type PolicyDecision,
} from "../../../tools/policy/approval-policy.js";
import { type CommandParts, partsOf, ruleForGood } from "../../../tools/policy/judge-command.js";
import { coveringPattern } from "../../../tools/policy/launchers.js";
import type { CommandLine, ToolScope } from "../../../tools/tool.js";
import type { CallEnd, CallContext, RunnableCall } from "./call-context.js";
import { changedArgumentsText, redactedArgumentsProblem } from "./call-items.js";
import { approvedKeys } from "./policy-context.js";
import { decideByHooks } from "./tool-hooks.js";

const maxAllowed = 1_000;

/** A call, and what the decision about it was made for. */
export interface JudgedCall {
  readonly call: RunnableCall;
  readonly command: CommandLine;
  /** Paths that the call may read only because it was approved. */
  readonly readable: readonly string[];
  /** Texts of hooks and of the approval, which the model gets with the output. */
  readonly notes: readonly string[];
}

interface ApprovedCall {
  readonly type: "approved";
  /** The call that runs instead, because the decision changed its arguments. */
  readonly changed?: JudgedCall;
  /** Whether the user was asked just now. */
  readonly wasAsked: boolean;
  /** The sandbox in which the call's commands run; absent if they run outside. */
  readonly sandbox?: CommandSandbox;
}

/** The decision of the policy about a call: it runs, needs approval, or is refused with a reason. */
export async function judge(
  { name, tool, isLeftOver }: RunnableCall,
  command: CommandLine,
  context: CallContext,
): Promise<PolicyDecision> {
  const policy = await context.policy(tool.readOnly ? "no_sandbox" : "sandbox");
  const verdict =
    tool === addKnowledge
      ? byToolRules({ tool: name }, await judgeKnowledge(context), policy)
      : await judgeCall({ tool: name, readOnly: tool.readOnly, command }, policy);
  // This process did not request a call left over in the file, so the user decides, even where the policy lets it run.
  if (!isLeftOver || verdict.type !== "run") return verdict;
  const reason = "cody was interrupted before this call had a result";
  return policy.policy === "never" ? { type: "refuse", reason } : { ...verdict, type: "ask", reason };
}

/** Asks for approval if the verdict says so; returns how the call ends if it may not run. */
export async function approveCall(
  call: RunnableCall,
  command: CommandLine,
  verdict: PolicyDecision,
  context: CallContext,
): Promise<CallEnd | ApprovedCall> {
  if (verdict.type === "refuse") return refusedEnd(call, verdict.reason);
  const { isOutside } = verdict;
  const approved = { type: "approved", ...(isOutside ? {} : await sandboxOf(context)) } as const;
  const key = commandKey(call, command, isOutside, context);
  if (verdict.type === "run" || context.approvedCommands.has(key)) return { ...approved, wasAsked: false };
  const policy = await context.policy("sandbox");
  const parts = command.access?.type === "command" ? await partsOf(command, policy.commands) : undefined;
  const request = await approvalRequest(call, command, verdict.reason, parts, context);
  const hooked = await decideByHooks(call, request, command, context);
  const decision = hooked ?? (await askUser(request, call, context));
  const changed = changedArguments(decision);
  if (changed !== undefined) return await approveChanged(call, changed, context);
  if (decision === "approved_for_session") {
    const places = { commands: policy.commands, sandbox: policy.sandbox, isOutside };
    remember([key, ...(parts === undefined ? [] : await approvedKeys(parts, places))], context);
  }
  await allowForGood(decision, parts, policy, context);
  return endOfRefusedCall(decision, call, context) ?? { ...approved, wasAsked: hooked === undefined };
}

/** The call with other arguments. They are approved as they are, so that only a refusal of the policy keeps it from running. */
async function approveChanged(
  call: RunnableCall,
  changed: Readonly<Record<string, unknown>>,
  context: CallContext,
): Promise<CallEnd | ApprovedCall> {
  const { name, tool } = call;
  const note = `[approval] ${context.maskOutput(changedArgumentsText(changed))}`;
  const refused = (reason: string): CallEnd => {
    return { type: "output", text: `${name} was not run: ${reason}\n\n${note}`, success: false };
  };
  // The decision may come from the file.
  if (call.isLeftOver && JSON.stringify(changed).includes(mask)) return refused(redactedArgumentsProblem);
  try {
    const args = parsed(tool.parameters, changed, `the arguments that the approval has set for ${name}`);
    const changedCall = { ...call, args, changedArguments: changed };
    const command = await tool.command(args, scopeOf(context));
    const verdict = await judge(changedCall, command, context);
    if (verdict.type === "refuse") return refused(verdict.reason);
    const readable = verdict.type === "ask" ? readPaths(command) : [];
    const sandbox = verdict.isOutside ? {} : await sandboxOf(context);
    const judged = { call: changedCall, command, readable, notes: [note] };
    return { type: "approved", changed: judged, ...sandbox, wasAsked: true };
  } catch (error) {
    return refused(errorMessage(error));
  }
}

export function readPaths({ access }: CommandLine): readonly string[] {
  return access?.type === "read" ? access.paths : [];
}

export function scopeOf({ settings: { cwd, sandbox }, privatePaths }: CallContext): ToolScope {
  return { cwd, sandbox, privatePaths, isJudged: true };
}

async function sandboxOf(context: CallContext): Promise<{ readonly sandbox?: CommandSandbox }> {
  const { sandbox } = await context.openSandbox();
  // The verdict was made for a call that is confined.
  if (sandbox === undefined) throw new Error("the sandbox is gone");
  return { sandbox };
}

function remember(keys: readonly string[], context: CallContext): void {
  for (const key of keys) {
    if (context.approvedCommands.size >= maxAllowed) return;
    context.approvedCommands.add(key);
    context.publish({ type: "mirror", change: { type: "command_approved", key } });
  }
}

/** Adds a rule to the user's rules for this project, if the user answered so; only the proposed one. */
async function allowForGood(
  decision: ReviewDecision,
  parts: CommandParts | undefined,
  { commands }: PolicyContext,
  context: CallContext,
): Promise<void> {
  if (typeof decision !== "object" || !("approved_execpolicy_amendment" in decision)) return;
  const { proposed_execpolicy_amendment: words } = decision.approved_execpolicy_amendment;
  const [proposed, root] = [parts && (await ruleForGood(parts, commands)), await context.projectRoot()];
  try {
    if (root === undefined || !isDeepStrictEqual(proposed, words)) throw new Error("it is not the proposed one");
    await context.permissions.allowForGood(root, words);
  } catch (error) {
    context.publish({
      type: "warning",
      message: `The rule was not saved, and the call runs once: ${errorMessage(error)}`,
    });
  }
}

async function judgeKnowledge(context: CallContext): Promise<PolicyDecision> {
  const { approvalPolicy: policy, sandbox } = context.settings;
  const isTrusted = await isTrustedProject(context);
  return decideKnowledge({ policy, sandbox, isTrusted, outside: context.turn.outsideSource });
}

/** Asks the user a question on behalf of a running call; denied when the policy is never to ask. */
export async function askDuringCall(
  call: RunnableCall,
  question: CommandLine,
  reason: string,
  context: CallContext,
): Promise<ReviewDecision> {
  if (context.settings.approvalPolicy === "never") return "denied";
  const approval_id = context.newId();
  // The question is not a call, and must not be confused with the call it belongs to.
  const ids = { approval_id, call_id: `${call.callId}:${approval_id}`, turn_id: context.turn.turnId };
  const approval = { tool: call.name, command: [...question.argv], cwd: question.cwd, reason };
  const decision = await askUser({ ...ids, ...approval }, call, context);
  context.turn.status = { status: "awaiting_tool_result", callId: call.callId };
  return decision;
}

async function isTrustedProject(context: CallContext): Promise<boolean> {
  const root = await context.projectRoot();
  return root !== undefined && (await context.isTrusted(root));
}

/** Reuses the approval id from before a crash if the request is identical. */
async function approvalRequest(
  call: RunnableCall,
  command: CommandLine,
  reason: string,
  parts: CommandParts | undefined,
  context: CallContext,
): Promise<ApprovalRequest> {
  const { argv, cwd, changes } = command;
  const approval = {
    tool: call.name,
    command: [...argv],
    cwd,
    ...(call.changedArguments === undefined ? {} : { arguments: call.changedArguments }),
    ...(changes === undefined ? {} : { changes }),
    ...(parts === undefined ? {} : await offers(parts, context)),
  };
  const earlier = context.approvals.unanswered(call.callId);
  const isSame = earlier !== undefined && isDeepStrictEqual({ ...earlier, ...approval }, earlier);
  const approval_id = isSame ? earlier.approval_id : context.newId();
  return { approval_id, call_id: call.callId, turn_id: context.turn.turnId, ...approval, reason };
}

/** The commands that the wider answers to a request would cover. */
async function offers(
  parts: CommandParts,
  context: CallContext,
): Promise<Pick<ApprovalRequest, "session_prefixes" | "proposed_execpolicy_amendment">> {
  const { commands, policy } = await context.policy("sandbox");
  const patterns = parts.type === "exact" ? parts.parts.map(({ argv }) => coveringPattern(argv)) : [];
  const areCovered = patterns.length > 0 && patterns.every(({ isPrefix }) => isPrefix);
  // Where only exact rules count, a rule for more arguments would not be used.
  const words = policy === "untrusted" ? undefined : await ruleForGood(parts, commands);
  return {
    ...(areCovered ? { session_prefixes: patterns.map(({ words: prefix }) => [...prefix]) } : {}),
    ...(words === undefined ? {} : { proposed_execpolicy_amendment: words }),
  };
}

async function askUser(
  request: ApprovalRequest,
  { call }: RunnableCall,
  context: CallContext,
): Promise<ReviewDecision> {
  const { turn, budget, approvals } = context;
  turn.status = { status: "awaiting_approval", toolCall: call };
  const options = { submissionId: turn.submissionId, signal: budget.signal, timeoutMs: budget.approvalMs };
  const decision = await budget.whilePaused(() => approvals.ask(request, options));
  turn.status = { status: "processing" };
  return decision;
}

/** Returns undefined when the call may run. */
function endOfRefusedCall(decision: ReviewDecision, call: RunnableCall, { budget }: CallContext): CallEnd | undefined {
  if (isApproval(decision)) return undefined;
  if (typeof decision === "object" && "denied" in decision) return refusedEnd(call, decision.denied.rejection);
  if (decision === "abort") return budget.signal.aborted ? { type: "no_output" } : { type: "stop" };
  const refusedBy = decision === "denied" ? "by the user" : "because the approval request timed out";
  return { type: "output", text: `${call.name} was refused ${refusedBy}`, success: false };
}

function refusedEnd({ name }: RunnableCall, reason: string): CallEnd {
  return { type: "output", text: `${name} was refused: ${reason}`, success: false };
}

/**
 * Identifies this exact command of this tool, in this folder, with these rights; hashed because a command can be long.
 */
function commandKey(
  { name, tool }: RunnableCall,
  { argv, cwd }: CommandLine,
  isOutside: boolean,
  { settings }: CallContext,
): string {
  return createHash("sha256")
    .update(JSON.stringify([name, argv, cwd, settings.sandbox, isOutside, tool.revision ?? null]))
    .digest("base64");
}
