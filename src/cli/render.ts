import type { LogLevel } from "../config/debug-log.js";
import type { Event, EventMsg } from "../messages/event.js";
import { visible } from "../messages/visible.js";
import { ModelWait } from "./activity/model-wait.js";
import { StatusLine } from "./activity/status-line.js";
import { ToolActivity } from "./activity/tool-activity.js";
import { changesBox } from "./changes/changes-box.js";
import { CompactionProgress } from "./compaction/compaction-progress.js";
import type { CommandContext } from "./context.js";

/** Shows one event; resolves when there is room for the next. */
export interface Renderer {
  (event: Event): Promise<void>;
  /** Takes away what says that something goes on: nothing does any more. */
  stop?(): Promise<void>;
}

/** Where what tools do is shown: where stdout is for the answers alone, that is stderr. */
export type ActivityOutput = "stdout" | "stderr";

export function rendererFor(context: CommandContext, activity: ActivityOutput): Renderer {
  return context.flags.json ? withTrouble(context, jsonRenderer(context)) : liveRenderer(context, activity);
}

function withTrouble(context: CommandContext, show: Renderer): Renderer {
  return async (event) => {
    await show(event);
    await tellTrouble(context, event);
  };
}

/** Text, and on a terminal a line that says what is waited for. */
function liveRenderer(context: CommandContext, activity: ActivityOutput): Renderer {
  const status = new StatusLine(context.terminal);
  const wait = new ModelWait(status, context.terminal.now ?? Date.now);
  const show = withTrouble(context, textRenderer(context, activity, status));
  const render = async (event: Event): Promise<void> => {
    await wait.before(event.msg);
    await show(event);
    await wait.after(event.msg);
  };
  return Object.assign(render, { stop: () => status.clear() });
}

/** For a command that plays no turn: stdout is for its result. */
export function troubleRenderer(context: CommandContext): Renderer {
  return (event) => tellTrouble(context, event);
}

/** For a command that compacts: what goes on is told, and what has come of it is its result. */
export function compactionRenderer(context: CommandContext): Renderer {
  const progress = new CompactionProgress(context, new StatusLine(context.terminal));
  return async (event) => {
    const { msg } = event;
    if (msg.type === "compaction_start" && !context.flags.json) await progress.begin(msg);
    if (msg.type === "compaction_end" || troubleOf(event) !== undefined) await progress.clear();
    await tellTrouble(context, event);
  };
}

function jsonRenderer({ terminal }: CommandContext): Renderer {
  return (event) => terminal.stdout.write(`${JSON.stringify(event)}\n`);
}

/** On stdout the answers, each ending with a line break. */
function textRenderer(context: CommandContext, activity: ActivityOutput, status: StatusLine): Renderer {
  const { terminal } = context;
  const tools = new ToolActivity();
  const compaction = new CompactionProgress(context, status);
  let isStreaming = false;
  let isLineOpen = false;

  async function show(text: string): Promise<void> {
    if (text !== "") isLineOpen = !text.endsWith("\n");
    await terminal.stdout.write(text);
  }

  async function endLine(): Promise<void> {
    isStreaming = false;
    if (isLineOpen) await show("\n");
  }

  function boxOf(msg: EventMsg): string {
    return msg.type === "turn_diff" ? changesBox(msg, terminal[activity].columns) : "";
  }

  return async ({ msg }) => {
    const done = tools.textOf(msg) + boxOf(msg);
    const isShown = done !== "" || endsLine.has(msg.type);
    if (isShown || msg.type === "agent_message_delta") await compaction.clear();
    if (msg.type === "agent_message_delta") {
      isStreaming = true;
      await show(msg.delta);
    }
    // Its deltas have shown it already, unless the model does not stream.
    if (msg.type === "agent_message" && !isStreaming) await show(msg.message);
    if (isShown) await endLine();
    if (done !== "") await terminal[activity].write(done);
    if (msg.type === "compaction_prepare") await compaction.prepare(msg);
    if (msg.type === "compaction_start") await compaction.begin(msg);
    if (msg.type === "compaction_end") await compaction.end(msg);
  };
}

const endsLine: ReadonlySet<EventMsg["type"]> = new Set([
  "agent_message",
  "stream_error",
  "error",
  "warning",
  "lagged",
  "compaction_prepare",
  "compaction_start",
  "exec_approval_request",
  "apply_patch_approval_request",
  "task_complete",
  "turn_aborted",
]);

/** How the debug log says that something could not be saved; people search for it. */
export function persistenceFailed(reason: string): string {
  return `Conversation persistence failed: ${reason}`;
}

/** What goes wrong is told in every mode, on stderr, and kept in the debug log. */
async function tellTrouble(context: CommandContext, event: Event): Promise<void> {
  const trouble = troubleOf(event);
  if (trouble === undefined) return;
  context.log(trouble.level, trouble.logged ?? trouble.text, { type: event.msg.type });
  await context.tell(trouble.text);
}

interface Trouble {
  readonly level: LogLevel;
  readonly text: string;
  /** What the debug log says instead. */
  readonly logged?: string;
}

const cutOff = "The last turn was cut off before it had ended.";

function redactedText(count: number): string {
  return count === 1 ? "1 secret was not written to disk" : `${count} secrets were not written to disk`;
}

function troubleOf({ id, msg }: Event): Trouble | undefined {
  if (msg.type === "error") return { level: "error", text: `✗ ${msg.message}` };
  const unsaved = msg.type === "warning" ? /^Failed to save turn: ([^]*)$/.exec(msg.message) : null;
  if (unsaved !== null) return { level: "warn", text: unsaved[0], logged: persistenceFailed(unsaved[1] ?? "") };
  if (msg.type === "warning" || msg.type === "stream_error") return { level: "warn", text: msg.message };
  if (msg.type === "mcp_startup_update" && msg.status.state === "failed") {
    return { level: "warn", text: `The MCP server ${msg.server} is not there: ${visible(msg.status.error)}` };
  }
  if (msg.type === "secrets_redacted") return { level: "debug", text: redactedText(msg.count) };
  // Nothing was submitted to end it: it was still open when the conversation was taken up again.
  if (msg.type === "turn_aborted" && id === "") return { level: "debug", text: cutOff };
  if (msg.type === "turn_aborted") return { level: "debug", text: "Interrupted." };
  if (msg.type === "lagged") return { level: "warn", text: `Not shown: events ${msg.from} to ${msg.to}` };
  return undefined;
}
