import { cutMiddle } from "../../../base/text/truncate.js";
import { orAborted, within } from "../../../base/time/waiting.js";
import { isInside, realRootOf } from "../../../config/project/project.js";
import type { ResponseItem, ToolOutputContent } from "../../../messages/response-item.js";
import { ToolOutput } from "../../../messages/tools/tool.js";
import { removedItems } from "../../../rollouts/file/history.js";
import { WholeOutput } from "../../../tools/exec/whole-output.js";
import type { CommandLine, ToolContext, ToolScope, EarlierItem } from "../../../tools/tool.js";
import { messageOf } from "../../runtime/failures.js";
import type { Settings } from "../state/settings.js";
import type { ActiveTurn } from "../state/live-state.js";
import type { TurnBudget } from "../turn/turn-budget.js";
import { type ChangedTurn, TurnChanges } from "../turn/turn-changes.js";
import type { ConversationContext } from "../conversation-context.js";
import { approveCall, askDuringCall } from "./approve-call.js";
import type { CallEnd, CallContext, RunnableCall } from "./call-context.js";
import { OutputStore } from "./output-store.js";
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
    return {
      turn: this.#turn,
      settings,
      projectRoot: () => (root ??= realRootOf(settings.cwd)),
      isTrusted: (path) => context.isTrusted(path),
      approvals,
      approvedCommands: cell.approvedCommands,
      budget: this.#budget,
      env: context.toolEnv,
      privatePaths: context.privatePaths,
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

/** Runs the calls of one answer: adjacent read-only calls in parallel, all others alone and in order. */
async function runCalls(
  calls: readonly PreparedCall[],
  callContext: CallContext,
  record: (item: ResponseItem) => void,
): Promise<CallsEnd> {
  for (const group of groupCalls(calls)) {
    const ends = await Promise.all(group.map((call) => runPreparedCall(call, callContext)));
    // Recorded in call order, so that the same work produces the same history.
    for (const [index, end] of ends.entries()) {
      const call = group[index]?.call;
      if (end.type !== "output" || call === undefined) continue;
      callOutputs([call], outputContent(end), end).forEach(record);
      callContext.budget.callEnded({ ...nameAndArguments(call), success: end.success, output: end.text });
      if (end.whole !== undefined) callContext.outputs?.store(call.call_id ?? "", end.whole);
    }
    if (ends.some(({ type }) => type === "stop")) return "stopped";
    if (callContext.budget.signal.aborted) return "cut_off";
  }
  return "continue";
}

function outputContent({ text, images = [] }: Extract<CallEnd, { type: "output" }>): ToolOutputContent {
  if (images.length === 0) return text;
  return [{ type: "input_text", text }, ...images.map((image_url) => ({ type: "input_image" as const, image_url }))];
}

async function runPreparedCall(prepared: PreparedCall, callContext: CallContext): Promise<CallEnd> {
  if (prepared.type === "refused") return { type: "output", text: prepared.reason, success: false };
  return await runCall(prepared, callContext);
}

function groupCalls(calls: readonly PreparedCall[]): PreparedCall[][] {
  const groups: PreparedCall[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last !== undefined && last.length < maxParallelCalls && [call, ...last].every(canRunInParallel))
      last.push(call);
    else groups.push([call]);
  }
  return groups;
}

/** Calls that need approval are asked about one at a time. */
function canRunInParallel(call: PreparedCall): boolean {
  return call.type === "refused" || (call.tool.readOnly && !call.isLeftOver);
}

/** Asks for approval if necessary, saves the call first if it changes something, and runs it. */
async function runCall(call: RunnableCall, callContext: CallContext): Promise<CallEnd> {
  let command: CommandLine;
  try {
    command = await call.tool.command(call.args, scopeOf(callContext));
  } catch (error) {
    const reason = messageOf(error);
    // A multi-line reason ends with lines of a file, so the note goes on its own line.
    return failedEnd(`${reason}${reason.includes("\n") ? "\nNothing was run." : "; nothing was run"}`);
  }
  const approval = await approveCall(call, command, callContext);
  if (approval.type !== "approved") return approval;
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
    { command, wasAsked: approval.wasAsked },
    callContext,
    wholeOutput,
  );
  const end = outputEnd(content, success);
  return { ...end, images, whole: isPart === true ? wholeOutput?.text : end.text === content ? undefined : content };
}

async function executeTool(
  call: RunnableCall,
  approved: Pick<ToolContext, "command" | "wasAsked">,
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

function scopeOf({ settings: { cwd, sandbox }, privatePaths }: CallContext): ToolScope {
  return { cwd, sandbox, privatePaths };
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
    return { content: `${name} failed: ${messageOf(error)}`, success: false };
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
