import { isInside } from "../../../config/project/project.js";
import { ToolOutput } from "../../../messages/tools/tool.js";
import { cutMiddle } from "../../../base/text/truncate.js";
import type { CommandLine, ToolContext, ToolScope } from "../../../tools/tool.js";
import { WholeOutput } from "../../../tools/exec/whole-output.js";
import { messageOf } from "../../runtime/failures.js";
import { orAborted, within } from "../../../base/time/waiting.js";
import { approveCall, askDuringCall } from "./approve-call.js";
import type { CallEnd, CallContext, RunnableCall } from "./call-world.js";

/** Time limit for a tool that was told to stop. */
const stopMs = 1_500;
const maxOutputTokens = 16_384;

/** Asks for approval if necessary, saves the call first if it changes something, and runs it. */
export async function runCall(call: RunnableCall, world: CallContext): Promise<CallEnd> {
  let command: CommandLine;
  try {
    command = await call.tool.command(call.args, scopeOf(world));
  } catch (error) {
    const reason = messageOf(error);
    // A multi-line reason ends with lines of a file, so the note goes on its own line.
    return failedEnd(`${reason}${reason.includes("\n") ? "\nNothing was run." : "; nothing was run"}`);
  }
  const approval = await approveCall(call, command, world);
  if (approval.type !== "approved") return approval;
  if (world.budget.signal.aborted) return { type: "no_output" };
  if (!call.tool.readOnly) {
    // The time budget is paused, so that a turn in a large folder can do as much as one in a small folder.
    await world.budget.whilePaused(async () => world.changes?.begin(world.budget.signal));
    // The saved call is the only record of its effect: after a crash it shows that something may have happened.
    const saved = await world.flush();
    if (saved.status === "not_saved") {
      return failedEnd(`${call.name} was not run: the call could not be saved: ${saved.reason}`);
    }
    if (world.budget.signal.aborted) return { type: "no_output" };
  }
  using whole = world.outputs === undefined ? undefined : new WholeOutput(world.outputs);
  const { content, success, isPart, images } = await executeTool(
    call,
    { command, wasAsked: approval.wasAsked },
    world,
    whole,
  );
  const end = outputEnd(content, success);
  return { ...end, images, whole: isPart === true ? whole?.text : end.text === content ? undefined : content };
}

async function executeTool(
  call: RunnableCall,
  approved: Pick<ToolContext, "command" | "wasAsked">,
  world: CallContext,
  whole: WholeOutput | undefined,
): Promise<ToolOutput> {
  const { turn, budget, env, stamps, earlier, saveKnowledge } = world;
  let isOver = false;
  const context: ToolContext = {
    callId: call.callId,
    turnId: turn.turnId,
    ...scopeOf(world),
    ...approved,
    signal: budget.signal,
    env,
    stamps,
    ...(earlier === undefined ? {} : { earlier }),
    ...(saveKnowledge === undefined ? {} : { saveKnowledge }),
    ...(whole === undefined ? {} : { keep: (bytes) => isOver || whole.push(bytes) }),
    noteRead: async (realPath) => {
      const root = await world.projectRoot();
      if (root === undefined || !isInside(root, realPath)) turn.noteOutside(call.name);
    },
    ask: async (question, reason) => (isOver ? "abort" : await askDuringCall(call, question, reason, world)),
    // Events after the output no longer belong to a turn.
    emit: (event) => isOver || world.publish(event),
  };
  if (call.tool.readsOutside !== false) turn.noteOutside(call.name);
  world.running.add(call.callId);
  updateTurnStatus(world);
  const running = runTool(async () => await call.tool.run(call.args, context), call.name);
  const performed = await resultOrStopped(running, budget.signal);
  isOver = true;
  world.running.delete(call.callId);
  updateTurnStatus(world);
  return performed ?? { content: warnStillRunning(call, world), success: false };
}

function scopeOf({ settings: { cwd, sandbox }, privatePaths }: CallContext): ToolScope {
  return { cwd, sandbox, privatePaths };
}

/** The status shows one running call for all of them. */
function updateTurnStatus({ turn, running }: CallContext): void {
  const [callId] = running;
  turn.status = callId === undefined ? { status: "processing" } : { status: "awaiting_tool_result", callId };
}

function warnStillRunning({ name }: RunnableCall, world: CallContext): string {
  const text = `${name} did not stop when cancelled; it may still be running`;
  world.publish({ type: "warning", message: text });
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
