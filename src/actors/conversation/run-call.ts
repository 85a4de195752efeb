import { isDeepStrictEqual } from "node:util";
import type { ExecApprovalRequest, ReviewDecision } from "../../messages/approval.js";
import type { EventMsg } from "../../messages/event.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import { ToolOutput } from "../../messages/tool.js";
import { cutMiddle } from "../../rollouts/cut-middle.js";
import { judge } from "../../tools/approval-policy.js";
import type { FileStamps } from "../../tools/file-stamps.js";
import type { ToolContext } from "../../tools/tool.js";
import { messageOf } from "../system/failures.js";
import { within } from "../system/within.js";
import type { ActiveTurn } from "./active-turn.js";
import type { Approvals } from "./approvals.js";
import type { PreparedCall } from "./prepare-call.js";
import type { Settings } from "./settings.js";
import type { TurnBudget } from "./turn-budget.js";

/** What calls run with, besides their arguments. */
export interface CallWorld {
  readonly turn: ActiveTurn;
  readonly settings: Settings;
  readonly approvals: Approvals;
  /** Commands a person has allowed for the whole conversation. */
  readonly allowed: Set<string>;
  readonly budget: TurnBudget;
  readonly env: Readonly<Record<string, string>>;
  readonly stamps: FileStamps;
  newId(): string;
  publish(msg: EventMsg): void;
  flush(): Promise<SaveOutcome>;
}

/** How a call ended: with a text for the model; without one when the turn ends, and `stop` when a person wants that. */
export type CallEnd =
  { readonly type: "output"; readonly text: string } | { readonly type: "no_output" } | { readonly type: "stop" };

/** How long a tool that was told to stop may take; what it would have said is then not waited for. */
const stopMs = 1_500;
const maxAllowed = 1_000;
const maxOutputTokens = 16_384;

/** Asks if it must be asked, makes sure that the call is on disk if it changes something, and runs it. */
export async function runCall(prepared: Runnable, world: CallWorld): Promise<CallEnd> {
  const { tool, name } = prepared;
  const { approvalPolicy: policy, sandbox } = world.settings;
  const verdict = judge({ readOnly: tool.readOnly, policy, sandbox });
  if (verdict.type === "refuse") return output(`${name} was refused: ${verdict.reason}`);
  if (verdict.type === "ask" && !world.allowed.has(commandKey(prepared, world))) {
    const refusal = await askFirst(prepared, verdict.reason, world);
    if (refusal !== undefined) return refusal;
  }
  if (world.budget.signal.aborted) return { type: "no_output" };
  if (!tool.readOnly) {
    // The call is the record of its effect: after a crash it says that something may have happened.
    const saved = await world.flush();
    if (saved.status === "not_saved")
      return output(`${name} was not run: the call could not be saved: ${saved.reason}`);
    if (world.budget.signal.aborted) return { type: "no_output" };
  }
  return await perform(prepared, world);
}

type Runnable = Extract<PreparedCall, { type: "run" }>;

async function askFirst(prepared: Runnable, reason: string, world: CallWorld): Promise<CallEnd | undefined> {
  const { call } = prepared;
  const { turn, budget } = world;
  const request = requestFor(prepared, reason, world);
  turn.status = { status: "awaiting_approval", toolCall: call };
  const options = { submissionId: turn.submissionId, signal: budget.signal, timeoutMs: budget.approvalMs };
  const decision = await budget.whilePaused(() => world.approvals.ask(request, options));
  turn.status = { status: "processing" };
  return afterDecision(decision, prepared, world);
}

/** The request of before a crash, if it asks for the very same. */
function requestFor({ callId, name, command }: Runnable, reason: string, world: CallWorld): ExecApprovalRequest {
  const earlier = world.approvals.unanswered(callId);
  const asked = { tool: name, command: [...command.argv], cwd: command.cwd };
  if (earlier !== undefined && isDeepStrictEqual({ ...earlier, ...asked }, earlier)) return earlier;
  return { approval_id: world.newId(), call_id: callId, turn_id: world.turn.turnId, ...asked, reason };
}

/** Nothing when the call may run. */
function afterDecision(decision: ReviewDecision, prepared: Runnable, world: CallWorld): CallEnd | undefined {
  const { name } = prepared;
  if (typeof decision === "object") return output(`${name} was refused: ${decision.denied.rejection}`);
  if (decision === "approved") return undefined;
  if (decision === "approved_for_session") {
    if (world.allowed.size < maxAllowed) world.allowed.add(commandKey(prepared, world));
    return undefined;
  }
  if (decision === "abort") return world.budget.signal.aborted ? { type: "no_output" } : { type: "stop" };
  const who = decision === "denied" ? "by the user" : "because nobody answered the approval request in time";
  return output(`${name} was refused ${who}`);
}

/** Exactly this command of this tool, in this folder, with these rights. */
function commandKey({ name, command }: Runnable, { settings }: CallWorld): string {
  return JSON.stringify([name, command.argv, command.cwd, settings.sandbox]);
}

async function perform(prepared: Runnable, world: CallWorld): Promise<CallEnd> {
  const { tool, args, callId } = prepared;
  const { turn, settings, budget, env, stamps } = world;
  const { signal } = budget;
  const context: ToolContext = {
    callId,
    turnId: turn.turnId,
    cwd: settings.cwd,
    sandbox: settings.sandbox,
    signal,
    env,
    stamps,
    emit: (event) => world.publish(event),
  };
  turn.status = { status: "awaiting_tool_result", callId };
  const running = outputOf(async () => await tool.run(args, context), prepared.name);
  const text = await orStopped(running, signal);
  turn.status = { status: "processing" };
  return text === undefined ? { type: "no_output" } : output(text);
}

async function outputOf(run: () => Promise<unknown>, name: string): Promise<string> {
  try {
    const result = ToolOutput.safeParse(await run());
    return result.success ? result.data.content : `${name} failed: it gave no text`;
  } catch (error) {
    return `${name} failed: ${messageOf(error)}`;
  }
}

/** The tool's text, or nothing when it was told to stop and does not. */
async function orStopped(running: Promise<string>, signal: AbortSignal): Promise<string | undefined> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<void>((resolve) => {
    onAbort = () => resolve();
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  const text = await Promise.race([running, aborted]);
  if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  if (typeof text === "string") return text;
  return (await within(running, stopMs)) ? await running : undefined;
}

function output(text: string): CallEnd {
  return { type: "output", text: cutMiddle(text, maxOutputTokens) };
}
