import { quotedCommand } from "../../base/text/quoted-command.js";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import type { BatchResult } from "../../messages/batch.js";
import type { Event } from "../../messages/event.js";
import { type CommandContext, currentTime } from "../context.js";
import { tokenText } from "../format.js";
import type { Output } from "./output.js";
import { cutToCells } from "./screen/cells.js";
import { Painter } from "./screen/painter.js";

const maxShownTask = 60;
/** More running tasks than this are only counted. */
const maxRows = 10;
/** The rows of a terminal that reports none. */
const usualRows = 24;
const [wideBar, narrowBar] = [20, 8];
const refreshMs = 1_000;

/** Shows how far a batch is. */
interface BatchProgress {
  start(key: string): unknown;
  event(key: string, event: Event): void;
  end(result: BatchResult): Promise<void>;
  close(): Promise<void>;
}

interface BatchFacts {
  /** The first lines of the tasks' prompts, by key. */
  readonly prompts: ReadonlyMap<string, string>;
  /** The results of an earlier run of the same batch. */
  readonly finished: readonly BatchResult[];
  readonly isQuiet: boolean;
}

/** On a terminal a table with the running tasks, below one line for each that has ended; elsewhere only these lines. */
export function batchProgress(context: CommandContext, facts: BatchFacts): BatchProgress {
  const { stderr, env } = context.terminal;
  return stderr.isTTY && env["TERM"] !== "dumb" ? new Table(context, facts) : new Lines(context, facts);
}

class Lines implements BatchProgress {
  readonly #context: CommandContext;
  readonly #facts: BatchFacts;

  constructor(context: CommandContext, facts: BatchFacts) {
    this.#context = context;
    this.#facts = facts;
  }

  start(): void {}
  event(): void {}

  async end(result: BatchResult): Promise<void> {
    if (isShown(result, this.#facts)) await this.#context.tell(lineOf(result, this.#facts));
  }

  async close(): Promise<void> {}
}

interface Running {
  readonly startedAt: number;
  activity: string;
  tokens: number;
  plan: { readonly done: number; readonly total: number } | undefined;
}

class Table implements BatchProgress {
  readonly #context: CommandContext;
  readonly #facts: BatchFacts;
  readonly #painter: Painter;
  readonly #running = new Map<string, Running>();
  readonly #ended: BatchResult[];
  readonly #timer: NodeJS.Timeout;

  constructor(context: CommandContext, facts: BatchFacts) {
    this.#context = context;
    this.#facts = facts;
    this.#ended = [...facts.finished];
    const { stderr } = context.terminal;
    this.#painter = new Painter({
      get columns() {
        return stderr.columns ?? 80;
      },
      get rows() {
        return rowsOf(stderr);
      },
      reflow: "break",
      write: (text) =>
        new Promise((resolve, reject) => {
          stderr.stream.write(text, (error) => (error ? reject(error) : resolve()));
        }),
    });
    // A cursor, so that the terminal has one even if the process ends in the middle.
    this.#painter.show(() => {
      const lines = this.#lines();
      return { lines, cursor: { row: lines.length - 1, column: 0 } };
    });
    this.#timer = setInterval(() => this.#painter.refresh(), refreshMs).unref();
  }

  start(key: string): Running {
    const startedAt = currentTime(this.#context);
    const task: Running = { startedAt, activity: "starting", tokens: 0, plan: undefined };
    this.#running.set(key, task);
    this.#painter.refresh();
    return task;
  }

  event(key: string, { msg }: Event): void {
    // A task of an earlier run continues without a start.
    const task = this.#running.get(key) ?? this.start(key);
    switch (msg.type) {
      case "task_started":
      case "exec_command_end":
      case "patch_apply_end":
      case "mcp_tool_call_end":
        task.activity = "waiting for the model";
        break;
      case "agent_message_delta":
        if (task.activity === "answering") return;
        task.activity = "answering";
        break;
      case "exec_command_begin":
        task.activity = `$ ${quotedCommand(msg.command)}`;
        break;
      case "patch_apply_begin":
        task.activity = `changing ${Object.keys(msg.changes).join(", ")}`;
        break;
      case "mcp_tool_call_begin":
        task.activity = `${msg.invocation.server}: ${msg.invocation.tool}`;
        break;
      case "stream_error":
        task.activity = "trying again";
        break;
      case "token_count":
        task.tokens = msg.info?.total_token_usage.total_tokens ?? task.tokens;
        break;
      case "plan_update":
        task.plan = { done: msg.plan.filter(({ status }) => status === "completed").length, total: msg.plan.length };
        break;
      default:
        return;
    }
    this.#painter.refresh();
  }

  async end(result: BatchResult): Promise<void> {
    this.#running.delete(result.key);
    this.#ended.push(result);
    if (isShown(result, this.#facts)) this.#painter.print([this.#cut(lineOf(result, this.#facts))]);
    this.#painter.refresh();
    await this.#painter.flushed();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#painter.close();
  }

  #lines(): string[] {
    const running = [...this.#running];
    const room = Math.max(0, Math.min(maxRows, rowsOf(this.#context.terminal.stderr) - 3));
    const left = running.length - room;
    return [
      this.#total(),
      ...running.slice(0, room).map(([key, task]) => this.#row(key, task)),
      ...(left > 0 ? [`  … and ${left} more`] : []),
    ].map((line) => this.#cut(line));
  }

  #total(): string {
    const total = this.#facts.prompts.size + this.#facts.finished.length;
    const ended = this.#ended;
    const failed = ended.filter(({ status }) => status === "failed").length;
    const unclear = ended.filter(({ status }) => status === "needs_attention").length;
    const running = [...this.#running.values()].reduce((sum, { tokens }) => sum + tokens, 0);
    const tokens = ended.reduce((sum, result) => sum + result.tokens.input + result.tokens.output, running);
    const cost = costOf(ended);
    return [
      `${bar(ended.length, total, wideBar)} ${ended.length}/${total}`,
      `${this.#running.size} running`,
      ...(failed === 0 ? [] : [`${failed} failed`]),
      ...(unclear === 0 ? [] : [`${unclear} need attention`]),
      `${tokenText(tokens)} tokens`,
      ...(cost > 0 ? [`$${cost.toFixed(2)}`] : []),
    ].join("  ");
  }

  #row(key: string, { startedAt, activity, tokens, plan }: Running): string {
    const seconds = Math.max(0, Math.floor((currentTime(this.#context) - startedAt) / 1_000));
    const age = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const steps = plan === undefined ? [] : [`${bar(plan.done, plan.total, narrowBar)} ${plan.done}/${plan.total}`];
    const used = tokens === 0 ? [] : [`${tokenText(tokens)} tokens`];
    return ["  " + nameOf(key, this.#facts), age, ...steps, ...used, visible(shortened(activity, 200))].join("  ");
  }

  #cut(line: string): string {
    return cutToCells(line, this.#context.terminal.stderr.columns ?? 80);
  }
}

function rowsOf({ stream }: Output): number {
  const { rows } = stream as { readonly rows?: number };
  return rows !== undefined && rows > 0 ? rows : usualRows;
}

function bar(done: number, total: number, cells: number): string {
  const filled = Math.round((done / Math.max(1, total)) * cells);
  return "█".repeat(filled) + "░".repeat(cells - filled);
}

function nameOf(key: string, { prompts }: BatchFacts): string {
  return shortened(visible(prompts.get(key)?.split("\n", 1)[0] ?? key), maxShownTask);
}

/** With --quiet, only tasks that are not done. */
function isShown({ status }: BatchResult, { isQuiet }: BatchFacts): boolean {
  return !isQuiet || status !== "done";
}

function lineOf(result: BatchResult, facts: BatchFacts): string {
  const { key, status, error, tokens, cost_usd } = result;
  const mark = status === "done" ? "✓" : "✗";
  const reason = error === undefined ? [] : [`${status}: ${visible(shortened(error, 200))}`];
  const cost = cost_usd ? [`$${cost_usd.toFixed(4)}`] : [];
  return [
    `${mark} ${nameOf(key, facts)}`,
    ...reason,
    `${tokenText(tokens.input + tokens.output)} tokens`,
    ...cost,
  ].join("  ");
}

export function costOf(results: readonly BatchResult[]): number {
  return results.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0);
}
