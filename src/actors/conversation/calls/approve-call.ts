import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ApprovalRequest, ReviewDecision } from "../../../messages/tools/approval.js";
import { addKnowledge } from "../../../tools/add-knowledge.js";
import { decideCall, decideKnowledge, type PolicyDecision } from "../../../tools/policy/approval-policy.js";
import type { CommandLine } from "../../../tools/tool.js";
import type { CallEnd, CallContext, RunnableCall } from "./call-context.js";

const maxAllowed = 1_000;

interface ApprovedCall {
  readonly type: "approved";
  /** Whether the user was asked just now. */
  readonly wasAsked: boolean;
}

/** Asks for approval if necessary; returns how the call ends if it may not run. */
export async function approveCall(
  call: RunnableCall,
  command: CommandLine,
  context: CallContext,
): Promise<CallEnd | ApprovedCall> {
  const verdict = await judgeCall(call, context);
  if (verdict.type === "run") return { type: "approved", wasAsked: false };
  if (verdict.type === "refuse") return refusedEnd(call, verdict.reason);
  const key = commandKey(call, command, context);
  if (context.approvedCommands.has(key)) return { type: "approved", wasAsked: false };
  const decision = await askUser(approvalRequest(call, command, verdict.reason, context), call, context);
  if (decision === "approved_for_session" && context.approvedCommands.size < maxAllowed) {
    context.approvedCommands.add(key);
    context.publish({ type: "mirror", change: { type: "command_approved", key } });
  }
  return endOfRefusedCall(decision, call, context) ?? { type: "approved", wasAsked: true };
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

/**
 * This process did not request a call left over in the file, so the user decides, even where the policy lets it run.
 */
async function judgeCall({ tool, isLeftOver }: RunnableCall, context: CallContext): Promise<PolicyDecision> {
  const { approvalPolicy: policy, sandbox } = context.settings;
  const verdict =
    tool === addKnowledge
      ? decideKnowledge({
          policy,
          sandbox,
          isTrusted: await isTrustedProject(context),
          outside: context.turn.outsideSource,
        })
      : decideCall({ readOnly: tool.readOnly, policy, sandbox });
  if (!isLeftOver || verdict.type !== "run") return verdict;
  const reason = "cody was interrupted before this call had a result";
  return { type: policy === "never" ? "refuse" : "ask", reason };
}

async function isTrustedProject(context: CallContext): Promise<boolean> {
  const root = await context.projectRoot();
  return root !== undefined && (await context.isTrusted(root));
}

/** Reuses the approval id from before a crash if the request is identical. */
function approvalRequest(
  call: RunnableCall,
  command: CommandLine,
  reason: string,
  context: CallContext,
): ApprovalRequest {
  const { argv, cwd, changes } = command;
  const approval = { tool: call.name, command: [...argv], cwd, ...(changes === undefined ? {} : { changes }) };
  const earlier = context.approvals.unanswered(call.callId);
  const isSame = earlier !== undefined && isDeepStrictEqual({ ...earlier, ...approval }, earlier);
  const approval_id = isSame ? earlier.approval_id : context.newId();
  return { approval_id, call_id: call.callId, turn_id: context.turn.turnId, ...approval, reason };
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
  if (typeof decision === "object") return refusedEnd(call, decision.denied.rejection);
  if (decision === "approved" || decision === "approved_for_session") return undefined;
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
function commandKey({ name, tool }: RunnableCall, { argv, cwd }: CommandLine, { settings }: CallContext): string {
  return createHash("sha256")
    .update(JSON.stringify([name, argv, cwd, settings.sandbox, tool.revision ?? null]))
    .digest("base64");
}
