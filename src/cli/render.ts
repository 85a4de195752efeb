import { Keyring } from "../actors/credentials/keyring.js";
import type { LogLevel } from "../config/debug-log.js";
import { chosenLogin } from "../config/logins.js";
import { apiKey } from "../config/vendors.js";
import type { Event, EventMsg } from "../messages/event.js";
import { visible } from "../messages/visible.js";
import { ToolActivity } from "./activity/tool-activity.js";
import { changesBox } from "./changes/changes-box.js";
import { CompactionProgress } from "./compaction/compaction-progress.js";
import type { CommandContext } from "./context.js";
import { loadSettings } from "./load-settings.js";

/** Shows one event; resolves when there is room for the next. */
export type Renderer = (event: Event) => Promise<void>;

/** Where what tools do is shown: where stdout is for the answers alone, that is stderr. */
export type ActivityOutput = "stdout" | "stderr";

export function rendererFor(context: CommandContext, activity: ActivityOutput): Renderer {
  const show = context.flags.json ? jsonRenderer(context) : textRenderer(context, activity);
  return async (event) => {
    await show(event);
    await tellTrouble(context, event);
  };
}

/** For a command that plays no turn: stdout is for its result. */
export function troubleRenderer(context: CommandContext): Renderer {
  return (event) => tellTrouble(context, event);
}

/** For a command that compacts: what goes on is told, and what has come of it is its result. */
export function compactionRenderer(context: CommandContext): Renderer {
  const progress = new CompactionProgress(context);
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
function textRenderer(context: CommandContext, activity: ActivityOutput): Renderer {
  const { terminal } = context;
  const tools = new ToolActivity();
  const compaction = new CompactionProgress(context);
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
    return msg.type === "turn_diff" ? changesBox(msg, terminal[activity].stream.columns) : "";
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
  const provider = event.msg.type === "error" ? /^(\S+) answered 401\b/.exec(event.msg.message)?.[1] : undefined;
  if (provider !== undefined && context.terminal.stderr.isTTY) await tellKeyEnd(context, provider);
}

const minKeyChars = 20;
const shownKeyChars = 4;

/** Says which key was rejected by its last characters. For a terminal only: a log or an event must have no part of it. */
async function tellKeyEnd(context: CommandContext, provider: string): Promise<void> {
  const { env } = context.terminal;
  const { auth, providers } = (await loadSettings(context)).values;
  if (chosenLogin(auth, provider) !== undefined) return;
  const isKept = providers?.[provider]?.keyring === true;
  const key = isKept ? await new Keyring(env).key(provider) : apiKey(provider, { env, providers });
  if (key === undefined || key.length < minKeyChars) return;
  await context.tell(`  The rejected API key ends in …${key.slice(-shownKeyChars)}`);
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
  if (msg.type === "error") return { level: "error", text: `✗ ${msg.message.replaceAll("\n", "\n  ")}` };
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
