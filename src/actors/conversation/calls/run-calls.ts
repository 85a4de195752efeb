import { isInside } from "../../../base/fs/path-checks.js";
import { errorMessage } from "../../../base/error-message.js";
import { cutMiddle } from "../../../base/text/truncate.js";
import { orAborted, within } from "../../../base/time/waiting.js";
import { realRootOf } from "../../../config/project/project.js";
import type { ResponseItem, ToolOutputContent } from "../../../messages/response-item.js";
import { ToolOutput } from "../../../messages/tools/tool.js";
import { removedItems } from "../../../rollouts/file/history.js";
import { WholeOutput } from "../../../tools/exec/whole-output.js";
import type { OpenedSandbox } from "../../../sandbox/sandboxes.js";
import type { PolicyDecision } from "../../../tools/policy/approval-policy.js";
import type { CommandLine, ToolContext, EarlierItem } from "../../../tools/tool.js";
import type { Settings } from "../state/settings.js";
import type { ActiveTurn } from "../state/live-state.js";
import type { TurnBudget } from "../turn/turn-budget.js";
import { type ChangedTurn, TurnChanges } from "../turn/turn-changes.js";
import type { ConversationContext } from "../conversation-context.js";
import { approveCall, askDuringCall, judge, type JudgedCall, readPaths, scopeOf } from "./approve-call.js";
import type { CallEnd, CallContext, RunnableCall } from "./call-context.js";
import { OutputStore } from "./output-store.js";
import { afterTool, beforeTool, hookedDecision } from "./tool-hooks.js";
import { type PolicyLookup, policyLookup, readingOf } from "./policy-context.js";
import { nameAndArguments, callOutputs, type PreparedCall, type PendingCall, prepareCall } from "./call-items.js";

/** Time limit for a tool that was told to stop. */
const stopMs = 1_500;

const maxOutputTokens = 16_384;

/** Maximum number of calls that run at the same time. */
const maxParallelCalls = 8;

/** `stopped`: the user wants the turn to stop; `cut_off`: it was aborted from outside. */
export type CallsEnd = "continue" | "stopped" | "cut_off";

/** The calls of one turn. Their context is created for the first call: most turns have none, and a thousand may run. */
export class TurnCalls {
  readonly #context: ConversationContext;
  readonly #turn: ActiveTurn;
  readonly #settings: Settings;
  readonly #budget: TurnBudget;
  #callContext: CallContext | undefined;

  constructor(context: ConversationContext, turn: ActiveTurn, settings: Settings, budget: TurnBudget) {
    this.#context = context;
    this.#turn = turn;
    this.#settings = settings;
    this.#budget = budget;
  }

  /** Runs calls and records their outputs; returns whether the turn continues. */
  async run(waiting: readonly PendingCall[]): Promise<CallsEnd> {
    if (waiting.length === 0) return "continue";
    const context = this.#context;
    const { recording } = context;
    const calls = waiting.map((call) => prepareCall(call, (name) => context.tool(name)));
    return await runCalls(calls, (this.#callContext ??= this.#createCallContext()), (item) =>
      recording.line({ type: "response_item", payload: item }, this.#turn.submissionId),
    );
  }

  /** Resolves when their outputs are stored and their changes are reported. */
  async end(): Promise<void> {
    await Promise.all([this.#callContext?.outputs?.settled(), this.#callContext?.changes?.end()]);
  }

  #createCallContext(): CallContext {
    const context = this.#context;
    const { cell, rollout, recording, approvals, publish } = context;
    const { submissionId, turnId } = this.#turn;
    const settings = this.#settings;
    const { blobs, outputMemory } = context;
    const changed: ChangedTurn = {
      turnId,
      cwd: settings.cwd,
      now: () => context.now(),
      publish: (msg) => publish(msg, submissionId),
      record: (line) => recording.line(line, submissionId),
    };
    let root: Promise<string | undefined> | undefined;
    let sandbox: Promise<OpenedSandbox> | undefined;
    let policy: PolicyLookup | undefined;
    const callContext: CallContext = {
      turn: this.#turn,
      settings,
      projectRoot: () => (root ??= realRootOf(settings.cwd)),
      isTrusted: (path) => context.isTrusted(path),
      approvals,
      approvedCommands: cell.approvedCommands,
      hooks: context.hooks,
      budget: this.#budget,
      env: context.toolEnv,
      privatePaths: context.privatePaths,
      openSandbox: () => (sandbox ??= context.openSandbox(settings)),
      permissions: context.permissions,
      policy: (needs) => (policy ??= policyLookup(callContext))(needs),
      maskOutput: (text) => context.maskOutput(text),
      stamps: cell.stamps,
      running: new Set(),
      outputs: blobs && new OutputStore(blobs, outputMemory, this.#context, submissionId),
      changes: context.changes && new TurnChanges(context.changes, changed),
      ...earlierItems(context),
      saveKnowledge: context.saveKnowledge(settings),
      newId: () => context.newId(),
      publish: (msg) => publish(msg, submissionId),
      flush: () => rollout.flush(),
    };
    return callContext;
  }
}

/** Gives tools access to items that were compacted away; empty when the conversation is not saved. */
function earlierItems({ compaction, rollout, cell }: ConversationContext): {
  readonly earlier?: () => AsyncIterable<EarlierItem>;
} {
  return rollout.path === null ? {} : { earlier: read };

  async function* read(): AsyncGenerator<EarlierItem> {
    // Recently compacted lines may not be in the file yet.
    await rollout.flush();
    yield* removedItems(compaction.savedLines(), cell.state.history);
  }
}

/**
 * Runs the calls of one answer: adjacent read-only calls in parallel, all others alone and in order. A call that needs
 * approval is asked about when none of the others is running or waits to be recorded.
 */
async function runCalls(
  calls: readonly PreparedCall[],
  callContext: CallContext,
  record: (item: ResponseItem) => void,
): Promise<CallsEnd> {
  let group: CallWithVerdict[] = [];
  const finishGroup = async (): Promise<CallsEnd> => {
    const running = group;
    group = [];
    return await runGroup(running, callContext, record);
  };
  for (const prepared of calls) {
    if (!isParallel(prepared) || group.length === maxParallelCalls) {
      const end = await finishGroup();
      if (end !== "continue") return end;
    }
    const call = await judged(prepared, callContext);
    if (call.verdict?.type === "ask") {
      const end = await finishGroup();
      if (end !== "continue") return end;
    }
    group.push(call);
    if (!isParallel(prepared) || call.verdict?.type === "ask") {
      const end = await finishGroup();
      if (end !== "continue") return end;
    }
  }
  return await finishGroup();
}

async function runGroup(
  group: readonly CallWithVerdict[],
  callContext: CallContext,
  record: (item: ResponseItem) => void,
): Promise<CallsEnd> {
  const ends = await Promise.all(group.map((call) => runOrEnd(call, callContext)));
  // Recorded in call order, so that the same work produces the same history.
  for (const [index, end] of ends.entries()) {
    const call = group[index]?.prepared.call;
    if (end.type !== "output" || call === undefined) continue;
    callOutputs([call], outputContent(end), end).forEach(record);
    callContext.budget.callEnded({ ...nameAndArguments(call), success: end.success, output: end.text });
    if (end.whole !== undefined) callContext.outputs?.store(call.call_id ?? "", end.whole);
  }
  if (ends.some(({ type }) => type === "stop")) return "stopped";
  return callContext.budget.signal.aborted ? "cut_off" : "continue";
}

/** A call with the decision about it; without one, it does not run, and `end` says why. */
type CallWithVerdict =
  | { readonly prepared: PreparedCall; readonly verdict?: undefined; readonly end: CallEnd }
  | { readonly prepared: RunnableCall; readonly verdict: PolicyDecision; readonly judged: JudgedCall };

/** Runs the hooks before a call, then applies the policy to the call as they leave it. */
async function judged(prepared: PreparedCall, callContext: CallContext): Promise<CallWithVerdict> {
  if (prepared.type === "refused") {
    return { prepared, end: { type: "output", text: prepared.reason, success: false } };
  }
  if (callContext.budget.signal.aborted) return { prepared, end: { type: "no_output" } };
  const hooked =
    callContext.hooks === undefined ? { call: prepared, notes: [] } : await beforeTool(prepared, callContext);
  if ("end" in hooked) return { prepared, end: withNotes(hooked.end, hooked.notes) };
  const { call, notes } = hooked;
  let command: CommandLine;
  try {
    command = await call.tool.command(call.args, scopeOf(callContext));
  } catch (error) {
    const reason = errorMessage(error);
    // A multi-line reason ends with lines of a file, so the note goes on its own line.
    const end = failedEnd(`${reason}${reason.includes("\n") ? "\nNothing was run." : "; nothing was run"}`);
    return { prepared, end: withNotes(end, notes) };
  }
  const decision = await judge(call, command, callContext);
  const readable = decision.type === "ask" ? readPaths(command) : [];
  return {
    prepared: call,
    verdict: hookedDecision(decision, call, command),
    judged: { call, command, readable, notes },
  };
}

async function runOrEnd(call: CallWithVerdict, callContext: CallContext): Promise<CallEnd> {
  if (call.verdict === undefined) return call.end;
  return withNotes(await runCall(call.judged, call.verdict, callContext), call.judged.notes);
}

function withNotes(end: CallEnd, notes: readonly string[]): CallEnd {
  return end.type === "output" && notes.length > 0 ? { ...end, text: [end.text, ...notes].join("\n\n") } : end;
}

/** Calls that change something, and those left over by a crash, run alone. */
function isParallel(call: PreparedCall): boolean {
  return call.type === "refused" || (call.tool.readOnly && !call.isLeftOver);
}

function outputContent({ text, images = [] }: Extract<CallEnd, { type: "output" }>): ToolOutputContent {
  if (images.length === 0) return text;
  return [{ type: "input_text", text }, ...images.map((image_url) => ({ type: "input_image" as const, image_url }))];
}

/** Asks for approval if necessary, saves the call first if it changes something, and runs it. */
async function runCall(asked: JudgedCall, verdict: PolicyDecision, callContext: CallContext): Promise<CallEnd> {
  const approval = await approveCall(asked.call, asked.command, verdict, callContext);
  if (approval.type !== "approved") return approval;
  const { call, command, readable } = approval.changed ?? asked;
  if (callContext.budget.signal.aborted) return { type: "no_output" };
  if (!call.tool.readOnly) {
    // The time budget is paused, so that a turn in a large folder can do as much as one in a small folder.
    await callContext.budget.whilePaused(async () => callContext.changes?.begin(callContext.budget.signal));
    // The saved call is the only record of its effect: after a crash it shows that something may have happened.
    const saved = await callContext.flush();
    if (saved.status === "not_saved") {
      return failedEnd(`${call.name} was not run: the call could not be saved: ${saved.reason}`);
    }
    if (callContext.budget.signal.aborted) return { type: "no_output" };
  }
  using wholeOutput = callContext.outputs === undefined ? undefined : new WholeOutput(callContext.outputs);
  const { content, success, isPart, images } = await executeTool(
    call,
    {
      command,
      wasAsked: approval.wasAsked,
      ...(approval.sandbox && { commandSandbox: approval.sandbox }),
      reading: readingOf(readable, callContext),
    },
    callContext,
    wholeOutput,
  );
  const masked = callContext.maskOutput(content);
  const end = outputEnd(masked, success);
  const whole = isPart === true ? wholeOutput?.text : end.text === masked ? undefined : masked;
  const notes = await afterTool(call, { success, content: end.text }, callContext);
  return withNotes({ ...end, images, whole }, [...(approval.changed?.notes ?? []), ...notes]);
}

async function executeTool(
  call: RunnableCall,
  approved: Pick<ToolContext, "command" | "wasAsked" | "commandSandbox" | "reading">,
  callContext: CallContext,
  wholeOutput: WholeOutput | undefined,
): Promise<ToolOutput> {
  const { turn, budget, env, stamps, earlier, saveKnowledge } = callContext;
  let isOver = false;
  const context: ToolContext = {
    callId: call.callId,
    turnId: turn.turnId,
    ...scopeOf(callContext),
    ...approved,
    signal: budget.signal,
    env,
    stamps,
    ...(earlier === undefined ? {} : { earlier }),
    ...(saveKnowledge === undefined ? {} : { saveKnowledge }),
    ...(wholeOutput === undefined ? {} : { keep: (bytes) => isOver || wholeOutput.push(bytes) }),
    noteRead: async (realPath) => {
      const root = await callContext.projectRoot();
      if (root === undefined || !isInside(root, realPath)) turn.noteOutside(call.name);
    },
    ask: async (question, reason) => (isOver ? "abort" : await askDuringCall(call, question, reason, callContext)),
    // Events after the output no longer belong to a turn.
    emit: (event) => isOver || callContext.publish(event),
  };
  if (call.tool.readsOutside !== false) turn.noteOutside(call.name);
  callContext.running.add(call.callId);
  updateTurnStatus(callContext);
  const running = runTool(async () => await call.tool.run(call.args, context), call.name);
  const performed = await resultOrStopped(running, budget.signal);
  isOver = true;
  callContext.running.delete(call.callId);
  updateTurnStatus(callContext);
  return performed ?? { content: warnStillRunning(call, callContext), success: false };
}

/** The status shows one running call for all of them. */
function updateTurnStatus({ turn, running }: CallContext): void {
  const [callId] = running;
  turn.status = callId === undefined ? { status: "processing" } : { status: "awaiting_tool_result", callId };
}

function warnStillRunning({ name }: RunnableCall, callContext: CallContext): string {
  const text = `${name} did not stop when cancelled; it may still be running`;
  callContext.publish({ type: "warning", message: text });
  return text;
}

async function runTool(run: () => Promise<unknown>, name: string): Promise<ToolOutput> {
  try {
    const result = ToolOutput.safeParse(await run());
    return result.success ? result.data : { content: `${name} failed: it returned no text`, success: false };
  } catch (error) {
    return { content: `${name} failed: ${errorMessage(error)}`, success: false };
  }
}

/** Returns the tool's output, or undefined when it was told to stop and did not. */
async function resultOrStopped<T>(running: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const result = await orAborted(running, signal);
  if (result !== undefined) return result;
  return (await within(running, stopMs)) ? await running : undefined;
}

function failedEnd(text: string): Extract<CallEnd, { type: "output" }> {
  return outputEnd(text, false);
}

function outputEnd(text: string, success: boolean): Extract<CallEnd, { type: "output" }> {
  return { type: "output", text: cutMiddle(text, maxOutputTokens), success };
}
