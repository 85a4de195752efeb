import type { LogLevel } from "../config/debug-log.js";
import type { Event, EventMsg } from "../messages/event.js";
import type { CommandContext } from "./context.js";

/** Shows one event; resolves when there is room for the next. */
export type Renderer = (event: Event) => Promise<void>;

export function rendererFor(context: CommandContext): Renderer {
  const toStdout = context.flags.json ? jsonRenderer(context) : textRenderer(context);
  return async (event) => {
    await toStdout(event);
    await tellTrouble(context, event.msg);
  };
}

function jsonRenderer({ terminal }: CommandContext): Renderer {
  return (event) => terminal.stdout.write(`${JSON.stringify(event)}\n`);
}

/** The answers and nothing else, each ending with a line break. */
function textRenderer({ terminal: { stdout } }: CommandContext): Renderer {
  let isStreaming = false;
  let isLineOpen = false;

  async function show(text: string): Promise<void> {
    if (text !== "") isLineOpen = !text.endsWith("\n");
    await stdout.write(text);
  }

  async function endLine(): Promise<void> {
    isStreaming = false;
    if (isLineOpen) await show("\n");
  }

  return async ({ msg }) => {
    if (msg.type === "agent_message_delta") {
      isStreaming = true;
      await show(msg.delta);
    }
    // Its deltas have shown it already, unless the model does not stream.
    if (msg.type === "agent_message" && !isStreaming) await show(msg.message);
    if (endsLine.has(msg.type)) await endLine();
  };
}

const endsLine: ReadonlySet<EventMsg["type"]> = new Set([
  "agent_message",
  "stream_error",
  "error",
  "warning",
  "exec_approval_request",
  "task_complete",
  "turn_aborted",
]);

/** How the debug log says that something could not be saved; people search for it. */
export function persistenceFailed(reason: string): string {
  return `Conversation persistence failed: ${reason}`;
}

/** What goes wrong is told in every mode, on stderr, and kept in the debug log. */
async function tellTrouble(context: CommandContext, msg: EventMsg): Promise<void> {
  const trouble = troubleOf(msg);
  if (trouble === undefined) return;
  context.log(trouble.level, trouble.logged ?? trouble.text, { type: msg.type });
  await context.tell(trouble.text);
}

interface Trouble {
  readonly level: LogLevel;
  readonly text: string;
  /** What the debug log says instead. */
  readonly logged?: string;
}

function troubleOf(msg: EventMsg): Trouble | undefined {
  if (msg.type === "error") return { level: "error", text: `✗ ${msg.message}` };
  const unsaved = msg.type === "warning" ? /^Failed to save turn: ([^]*)$/.exec(msg.message) : null;
  if (unsaved !== null) return { level: "warn", text: unsaved[0], logged: persistenceFailed(unsaved[1] ?? "") };
  if (msg.type === "warning" || msg.type === "stream_error") return { level: "warn", text: msg.message };
  if (msg.type === "turn_aborted") return { level: "debug", text: "Interrupted." };
  if (msg.type === "lagged") return { level: "warn", text: `Not shown: events ${msg.from} to ${msg.to}` };
  if (msg.type !== "exec_approval_request") return undefined;
  return { level: "info", text: `Refused, because it needs approval: ${msg.command.join(" ")}` };
}
