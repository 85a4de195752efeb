import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { keyedTasks, type KeyedTask } from "../../../batch/run-batch.js";
import { InvalidInputError } from "../../../base/errors.js";
import { jsonValue, check } from "../../../base/parse.js";
import { systemReason } from "../../../base/system-error.js";
import { withFileLock } from "../../../config/file-lock.js";
import { BatchResult, BatchTask } from "../../../messages/batch.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import type { ContextOf } from "../../context.js";
import { counted } from "../../format.js";
import { unattended } from "../../headless/unattended.js";
import { batchProgress, costOf } from "../../terminal/batch-progress.js";
import { watchSignals } from "../../terminal/interruption.js";
import { readAll } from "../../terminal/read-input.js";
import { openWorkspace, type Workspace } from "../../workspace.js";

type RunContext = ContextOf<"run">;

/** Runs the tasks of a file; what an earlier run with the same results file finished or began is not begun again. */
export async function runCommand(given: RunContext): Promise<number> {
  const context = unattended(given);
  using interruption = watchSignals(context.terminal);
  const tasks = await tasksOf(context, interruption.signal);
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  await using workspace = await openWorkspace(context, { control: "cli" });
  workspace.plan("other");
  const { output } = context.flags;
  const exitCode =
    output === undefined || output === "-"
      ? await runTasks(context, workspace, { tasks, signal: interruption.signal })
      : await runIntoFile(
          context,
          workspace,
          { tasks, signal: interruption.signal },
          resolve(context.terminal.cwd, output),
        );
  return interruption.exitCode ?? exitCode;
}

interface BatchRun {
  readonly tasks: readonly KeyedTask[];
  readonly signal: AbortSignal;
}

/** Continues the results file of an earlier run, if there is one. No other run may write it at the same time. */
async function runIntoFile(
  context: RunContext,
  workspace: Workspace,
  { tasks, signal }: BatchRun,
  path: string,
): Promise<number> {
  // Unlimited, because a batch may take days; the lock of a dead process is replaced.
  return await withFileLock(`${path}.lock`, () => continueFile(), { holdMs: Infinity, waitMs: 5_000 });

  async function continueFile(): Promise<number> {
    await using results = await LineFile.open(path, BatchResult);
    await using journal = await LineFile.open(`${path}.started`, StartedTask);
    const finished = new Map(results.entries.map((result) => [result.key, result]));
    const left = tasks.filter(({ key }) => !finished.has(key));
    const skipped = tasks.length - left.length;
    if (skipped > 0) await context.tell(`${counted(skipped, "task")} finished before: skipped`);
    const started = new Map(journal.entries.map(({ key, conversation_id }) => [key, conversation_id]));
    return await runTasks(context, workspace, {
      tasks: left,
      signal,
      started,
      finished: [...finished.values()],
      onStart: (key, id) => journal.append({ key, conversation_id: id }),
      onResult: (result) => results.append(result),
    });
  }
}

const StartedTask = BatchResult.pick({ key: true, conversation_id: true }).required();

interface RecordedRun extends BatchRun {
  readonly started?: ReadonlyMap<string, string>;
  readonly finished?: readonly BatchResult[];
  readonly onStart?: (key: string, conversationId: string) => Promise<void>;
  readonly onResult?: (result: BatchResult) => Promise<void>;
}

async function runTasks(context: RunContext, workspace: Workspace, run: RecordedRun): Promise<number> {
  const { tasks, signal, started, onStart, onResult, finished = [] } = run;
  const { concurrency, maxCost } = context.flags;
  const progress = batchProgress(context, {
    prompts: new Map(tasks.map(({ key, prompt }) => [key, prompt])),
    finished,
    isQuiet: context.flags.quiet,
  });
  const results: BatchResult[] = [];
  try {
    for await (const result of workspace.runBatch(tasks, {
      signal,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(maxCost === undefined ? {} : { maxCostUsd: Math.max(0, maxCost - costOf(finished)) }),
      ...(started === undefined ? {} : { started }),
      onStart: async (key, id) => {
        await onStart?.(key, id);
        progress.start(key);
      },
      onEvent: (key, event) => progress.event(key, event),
    })) {
      results.push(result);
      await progress.end(result);
      if (onResult === undefined) await context.terminal.stdout.writeExact(`${JSON.stringify(result)}\n`);
      else await onResult(result);
    }
  } finally {
    await progress.close();
  }
  const all = [...finished, ...results];
  const left = tasks.length - results.length;
  await context.tell(summaryText(all, left));
  if (left > 0) return exitCodes.limit;
  return all.some(({ status }) => status !== "done") ? exitCodes.failed : 0;
}

/** Reads all tasks first, so that a mistake in the last line is reported before the first one costs anything. */
async function tasksOf({ args, terminal }: RunContext, signal: AbortSignal): Promise<KeyedTask[]> {
  const [file = "-"] = args;
  const name = file === "-" ? "stdin" : file;
  const text =
    file === "-"
      ? await readAll(terminal.stdin, signal)
      : await readFile(resolve(terminal.cwd, file), "utf8").catch((error: NodeJS.ErrnoException) => {
          throw usageError(`${file}: cannot read the tasks: ${systemReason(error)}`);
        });
  const lines = text.split("\n").map((line, index) => ({ line, number: index + 1 }));
  const tasks = lines
    .filter(({ line }) => line.trim() !== "")
    .map(({ line, number }) => {
      const what = `${name}, line ${number}`;
      const task = check(BatchTask, jsonValue(line, what), what);
      return task.cwd === undefined ? task : { ...task, cwd: resolve(terminal.cwd, task.cwd) };
    });
  if (tasks.length === 0 && !signal.aborted) throw usageError(`${name} contains no tasks`, 'A task: {"prompt": "…"}');
  return keyedTasks(tasks);
}

/** A file of JSON lines that grows by whole, synced lines. */
class LineFile<T> implements AsyncDisposable {
  readonly entries: readonly T[];
  readonly #file: FileHandle;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle, entries: readonly T[]) {
    this.#file = file;
    this.entries = entries;
  }

  /** Reads the lines so far, and cuts off a last line without its end, which a crash has left. */
  static async open<T>(path: string, schema: { parse(value: unknown): T }): Promise<LineFile<T>> {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    const file = await open(path, flags, 0o600).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`Cannot open ${path}: ${systemReason(error)}`, exitCodes.failed);
    });
    try {
      const bytes = await file.readFile();
      const end = bytes.lastIndexOf("\n") + 1;
      if (end < bytes.length) await file.truncate(end);
      const lines = bytes.subarray(0, end).toString().split("\n").slice(0, -1);
      return new LineFile(
        file,
        lines.map((line, index) => parsedLine(schema, line, `${path}, line ${index + 1}`)),
      );
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Resolves when the line is on disk. */
  async append(entry: T): Promise<void> {
    const write = async (): Promise<void> => {
      await this.#file.appendFile(`${JSON.stringify(entry)}\n`);
      await this.#file.datasync();
    };
    // One after another, so that lines are never mixed.
    const written = this.#last.then(write, write);
    this.#last = written.catch(() => undefined);
    await written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await this.#file.close();
  }
}

function parsedLine<T>(schema: { parse(value: unknown): T }, line: string, what: string): T {
  try {
    return schema.parse(jsonValue(line, what));
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw new CommandError(`${what}: not written by cody run`, exitCodes.failed, ["Choose another file with --output"]);
  }
}

function summaryText(results: readonly BatchResult[], left: number): string {
  const count = (status: BatchResult["status"]): number => results.filter((result) => result.status === status).length;
  const cost = costOf(results);
  return [
    `${count("done")} done`,
    `${count("failed")} failed`,
    ...(count("needs_attention") === 0 ? [] : [`${count("needs_attention")} need attention`]),
    ...(left === 0 ? [] : [`${left} not run`]),
    ...(cost > 0 ? [`$${cost.toFixed(2)}`] : []),
  ].join(", ");
}
