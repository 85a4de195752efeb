import { Keyring } from "../../actors/credentials/keyring.js";
import { isRecord } from "../../base/is-record.js";
import { visible } from "../../base/text/visible.js";
import type { LogLevel } from "../../config/debug-log.js";
import { chosenLogin } from "../../config/providers/logins.js";
import { apiKey } from "../../config/providers/vendors.js";
import type { TurnDiff } from "../../messages/tools/diff.js";
import type { Event, EventMsg } from "../../messages/event.js";
import type { CommandContext } from "../context.js";
import { fitted } from "../format.js";
import { loadSettings } from "../load-settings.js";
import { ModelWait, StatusLine, CompactionProgress } from "./status-line.js";
import { ToolActivity } from "./tool-activity.js";
import type { Output } from "./output.js";
import { changesRows, changesTitle } from "./change-text.js";

const leastCells = 37;

const mostCells = 100;

/** The number of cells the frame takes in each row. */
const frameCells = 4;

const endsLine: ReadonlySet<EventMsg["type"]> = new Set([
  "exec_approval_request",
  "apply_patch_approval_request",
  "task_complete",
  "turn_aborted",
]);

/** After `stream_error` the model answers again. */
const endsStream: ReadonlySet<EventMsg["type"]> = new Set([
  "agent_message",
  "stream_error",
  "task_complete",
  "turn_aborted",
]);

const minKeyChars = 20;
const shownKeyChars = 4;

const cutOff = "The last turn was interrupted before it ended.";

/** Shows one event; resolves when there is room for the next. */
export interface Renderer {
  (event: Event): Promise<void>;
  /** Erases the status line. Called when nothing more is shown. */
  stop?(): Promise<void>;
}

/** The stream for the work of tools: stderr in commands whose stdout is for answers only. */
export type ActivityOutput = "stdout" | "stderr";

export function rendererFor(context: CommandContext, activity: ActivityOutput): Renderer {
  return context.flags.json ? jsonRenderer(context) : liveRenderer(context, activity);
}

/** Renders text, with a status line on a terminal. */
function liveRenderer(context: CommandContext, activity: ActivityOutput): Renderer {
  const status = new StatusLine(context.terminal);
  const wait = new ModelWait(status, context.terminal.now ?? Date.now);
  const show = textRenderer(context, activity, status);
  const render = async (event: Event): Promise<void> => {
    await wait.before(event.msg);
    await show(event);
    await wait.after(event.msg);
  };
  return Object.assign(render, { stop: () => status.clear() });
}

/** For commands that play no turn: shows only problems, because stdout is for the result. */
export function problemRenderer(context: CommandContext): Renderer {
  return (event) => reportProblem(context, event);
}

/** For the compact command: shows progress and problems. The command prints the outcome itself. */
export function compactionRenderer(context: CommandContext): Renderer {
  const progress = new CompactionProgress(context, new StatusLine(context.terminal));
  return async (event) => {
    const { msg } = event;
    if (msg.type === "compaction_start" && !context.flags.json) await progress.begin(msg);
    if (msg.type === "compaction_end" || problemOf(event) !== undefined) await progress.clear();
    await reportProblem(context, event);
  };
}

function jsonRenderer(context: CommandContext): Renderer {
  return async (event) => {
    await context.terminal.stdout.writeExact(`${JSON.stringify(event)}\n`);
    await reportProblem(context, event);
  };
}

/**
 * Prints the answers on stdout, each ending with a newline. The newline of a turn's last answer signals that the turn
 * is saved, so it is printed only when the turn ends.
 */
function textRenderer(context: CommandContext, activity: ActivityOutput, status: StatusLine): Renderer {
  const { terminal } = context;
  const tools = new ToolActivity();
  const compaction = new CompactionProgress(context, status);
  const answer = new AnswerLine(terminal.stdout);
  /** Output for stderr that waits until the line of a complete answer ends. */
  const waiting: (() => Promise<void>)[] = [];
  let isStreaming = false;

  async function endLine(): Promise<void> {
    await compaction.clear();
    await answer.end();
    for (const print of waiting.splice(0)) await print();
  }

  async function showAnswer(text: string): Promise<void> {
    // A second answer starts on its own line.
    await (answer.isComplete ? endLine() : compaction.clear());
    await answer.add(text);
  }

  async function afterLine(print: () => Promise<void>): Promise<void> {
    if (answer.isComplete) return void waiting.push(print);
    await endLine();
    await print();
  }

  /** A compaction takes seconds: at a terminal it is shown at once, even if that ends the answer's line too early. */
  async function showProgress(print: () => Promise<void>): Promise<void> {
    if (terminal.stdout.isTTY) await endLine();
    await (terminal.stderr.isTTY ? print() : afterLine(print));
  }

  return async (event) => {
    const { msg } = event;
    const done = tools.textOf(msg);
    // After a call the model answers again, so the previous answer was not the last.
    if (done !== "" || endsLine.has(msg.type) || isCallItem(msg)) await endLine();
    if (done !== "") await terminal[activity].write(done);
    if (msg.type === "agent_message_delta") {
      await showAnswer(msg.delta);
      isStreaming = true;
    }
    if (msg.type === "agent_message") {
      // The deltas have already printed it, unless the model does not stream.
      if (!isStreaming) await showAnswer(msg.message);
      answer.complete();
    }
    if (endsStream.has(msg.type)) isStreaming = false;
    if (msg.type === "turn_diff") {
      await afterLine(() => terminal[activity].write(changesBox(msg, terminal[activity].columns)));
    }
    if (msg.type === "compaction_prepare") await afterLine(() => compaction.prepare(msg));
    if (msg.type === "compaction_start") await showProgress(() => compaction.begin(msg));
    if (msg.type === "compaction_end") {
      await (msg.outcome === "compacted" ? showProgress(() => compaction.end(msg)) : compaction.end(msg));
    }
    if (problemOf(event) !== undefined) await afterLine(() => reportProblem(context, event));
  };
}

function isCallItem(msg: EventMsg): boolean {
  if (msg.type !== "raw_response_item" || !isRecord(msg.item)) return false;
  const { type } = msg.item;
  return typeof type === "string" && type.endsWith("_call");
}

/** The line of stdout with the answer. A newline at the end of the text so far is held back. */
class AnswerLine {
  readonly #stdout: Output;
  #state: "closed" | "open" | "complete" = "closed";
  #isNewlineHeld = false;

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  /** The whole answer has been printed, except for its newline. */
  get isComplete(): boolean {
    return this.#state === "complete";
  }

  async add(text: string): Promise<void> {
    if (text === "") return;
    const all = this.#isNewlineHeld ? `\n${text}` : text;
    this.#state = "open";
    this.#isNewlineHeld = all.endsWith("\n");
    await this.#stdout.write(this.#isNewlineHeld ? all.slice(0, -1) : all);
  }

  /** Call when the whole answer has been added. */
  complete(): void {
    if (this.#state === "open") this.#state = "complete";
  }

  async end(): Promise<void> {
    const isOpen = this.#state !== "closed";
    this.#state = "closed";
    this.#isNewlineHeld = false;
    if (isOpen) await this.#stdout.write("\n");
  }
}

/** The debug log's message for a failed save. People search for this text. */
export function persistenceFailureText(reason: string): string {
  return `Conversation persistence failed: ${reason}`;
}

/** Reports problems on stderr in every mode, and in the debug log. */
async function reportProblem(context: CommandContext, event: Event): Promise<void> {
  const problem = problemOf(event);
  if (problem === undefined) return;
  context.log(problem.level, problem.logged ?? problem.text, { type: event.msg.type });
  await context.tell(problem.text);
  const provider =
    event.msg.type === "error"
      ? /^(\S+) rejected the API key or login \(401\)/.exec(event.msg.message)?.[1]
      : undefined;
  if (provider !== undefined && context.terminal.stderr.isTTY) await showRejectedKey(context, provider);
}

/**
 * Identifies the rejected key by its last characters. For terminals only: logs and events must not contain any part of
 * it.
 */
async function showRejectedKey(context: CommandContext, provider: string): Promise<void> {
  const { env } = context.terminal;
  const { auth, providers } = (await loadSettings(context)).values;
  if (chosenLogin(auth, provider) !== undefined) return;
  const isKept = providers?.[provider]?.keyring === true;
  const key = isKept ? await new Keyring(env).key(provider) : apiKey(provider, { env, providers });
  if (key === undefined || key.length < minKeyChars) return;
  await context.tell(`  The rejected API key ends in …${key.slice(-shownKeyChars)}`);
}

interface Problem {
  readonly level: LogLevel;
  readonly text: string;
  /** The text for the debug log, if it differs. */
  readonly logged?: string;
}

function redactedText(count: number): string {
  return count === 1 ? "1 secret was not written to disk" : `${count} secrets were not written to disk`;
}

function problemOf({ id, msg }: Event): Problem | undefined {
  if (msg.type === "error") return { level: "error", text: `✗ ${msg.message.replaceAll("\n", "\n  ")}` };
  const unsaved = msg.type === "warning" ? /^Failed to save turn: ([^]*)$/.exec(msg.message) : null;
  if (unsaved !== null) return { level: "warn", text: unsaved[0], logged: persistenceFailureText(unsaved[1] ?? "") };
  if (msg.type === "warning" || msg.type === "stream_error") return { level: "warn", text: msg.message };
  if (msg.type === "mcp_startup_update" && msg.status.state === "failed") {
    return { level: "warn", text: `MCP server ${msg.server} is not available: ${visible(msg.status.error)}` };
  }
  if (msg.type === "secrets_redacted") return { level: "debug", text: redactedText(msg.count) };
  // No submission ended it: the turn was still open when the conversation was resumed.
  if (msg.type === "turn_aborted" && id === "") return { level: "debug", text: cutOff };
  if (msg.type === "turn_aborted") return { level: "debug", text: "Interrupted." };
  if (msg.type === "lagged") return { level: "warn", text: `Not shown: events ${msg.from} to ${msg.to}` };
  return undefined;
}

/** The changes of a turn as a framed box; `columns` is the width of the terminal. */
function changesBox(diff: TurnDiff, columns = 80): string {
  const rows = changesRows(diff).map(({ text, numbers = "" }) => text + numbers);
  const widest = Math.max(leastCells - frameCells, ...rows.map(width));
  const inner = Math.max(1, Math.min(widest, columns - frameCells, mostCells));
  const line = "─".repeat(inner + 2);
  const framed = (row: string): string => {
    const text = width(row) <= inner ? row : fitted(row, inner);
    return `│ ${text}${" ".repeat(Math.max(0, inner - width(text)))} │`;
  };
  return [`╭${line}╮`, framed(changesTitle), `├${line}┤`, ...rows.map(framed), `╰${line}╯`, ""].join("\n");
}

/** Approximate: treats East Asian characters and emoji as wide. A box that is off by a cell is acceptable. */
function width(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + (isWide(character.codePointAt(0) ?? 0) ? 2 : 1), 0);
}

function isWide(code: number): boolean {
  return code >= 0x1100 && !(code >= 0x2000 && code < 0x2e80);
}
