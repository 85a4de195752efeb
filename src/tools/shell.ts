import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { BoundedOutput } from "../base/text/bounded-output.js";
import { counted } from "../base/text/counted.js";
import { unfinishedBytes } from "../base/text/truncate.js";
import type { ToolOutput } from "../messages/tools/tool.js";
import { defineTool, ArgumentText } from "./define-tool.js";
import { ExecEvents } from "./exec/exec-events.js";
import { runCommand, type CommandResult } from "./exec/run-command.js";
import type { Survivor } from "./exec/survivors.js";
import { failureText, targetChanged } from "./files/file-problem.js";
import type { CommandLine, ToolContext, ToolScope } from "./tool.js";

const defaultTimeoutMs = 120_000;

const maxTimeoutMs = 600_000;

const maxJustificationChars = 1_000;

const Program = z
  .array(ArgumentText)
  .min(1)
  .refine(([program = ""]) => program !== "" && !program.startsWith("-"), "must start with the name of a program");

/** Uses the argument names of Codex. */
const ShellArguments = z.strictObject({
  command: z.union([ArgumentText.min(1), Program]).describe("A script for sh, or a program and its arguments"),
  workdir: ArgumentText.optional().describe("The folder to run in, relative to the working folder"),
  timeout_ms: z
    .int()
    .min(1)
    .max(maxTimeoutMs)
    .optional()
    .describe(`Timeout in milliseconds; ${defaultTimeoutMs} by default`),
  with_escalated_permissions: z.boolean().optional().describe("Ask the user to run it outside the sandbox"),
  justification: z.string().max(maxJustificationChars).optional().describe("The reason, for the user"),
});

const maxNamed = 20;

/** The exit codes of coreutils' `timeout` and of a shell after an interrupt. */
const codes = { timed_out: 124, interrupted: 130 } as const;

const unknownCode = -1;

export const shell = defineTool({
  name: "shell",
  description:
    "Runs a command and returns its exit code and output; a long output is cut in the middle. The command " +
    "has no stdin and no terminal. When it ends, its background processes are killed too; those that " +
    "detach (setsid, daemons) may survive, and are reported only if they keep their environment.",
  parameters: ShellArguments,
  command: commandOf,
  run: async (args, context) => {
    if (context.signal.aborted) return { content: interruptedBefore, success: false };
    return await runShell(args, context);
  },
});

const interruptedBefore = "Interrupted before the command was started";

/** There is no terminal: disable escape sequences and pagers. */
const plainOutput = { TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat" };

/** Codex's exit code for a command that did not start. */
const notStartedCode = -1;

async function commandOf(
  { command, workdir, with_escalated_permissions: isEscalated = false, justification }: ShellArguments,
  { cwd }: ToolScope,
): Promise<CommandLine> {
  return {
    argv: typeof command === "string" ? ["sh", "-c", command] : command,
    cwd: workdir === undefined ? cwd : await realFolder(resolve(cwd, workdir)),
    access: { type: "command", isEscalated, ...(justification === undefined ? {} : { justification }) },
  };
}

/** Resolves a path; a missing folder is reported when the command is run. */
async function realFolder(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

async function runShell(
  { timeout_ms: timeoutMs = defaultTimeoutMs }: ShellArguments,
  context: ToolContext,
): Promise<ToolOutput> {
  const { argv, cwd } = context.command;
  const events = new ExecEvents(context);
  const notStarted = (problem: string): ToolOutput => {
    events.end({ stdout: "", stderr: problem, exitCode: notStartedCode, durationMs: 0 });
    return { content: problem, success: false };
  };
  events.begin(argv, cwd);
  const problem = await workingFolderProblem(cwd, context);
  if (problem !== undefined) return notStarted(problem);
  const output = new CommandOutput((bytes) => context.keep?.(bytes));
  try {
    const end = await runCommand({
      argv,
      cwd,
      env: { ...context.env, ...plainOutput },
      timeoutMs,
      signal: context.signal,
      sandbox: context.commandSandbox,
      onOutput: (stream, bytes) => {
        output.push(stream, bytes);
        events.output(stream, bytes);
      },
    });
    if (end === undefined) return notStarted(interruptedBefore);
    const { stdout, stderr, merged, isCut } = output.end();
    const exitCode = exitCodeOf(end);
    events.end({ stdout, stderr, exitCode, durationMs: end.durationMs });
    const content = commandReport(end, timeoutMs, merged);
    return { content, success: exitCode === 0, ...(isCut ? { isPart: true } : {}) };
  } catch (error) {
    return notStarted(`cannot run ${argv[0]}: ${failureText(error)}`);
  }
}

type StreamName = "stdout" | "stderr";

/** Collects a command's output: each stream separately, and both merged in order of arrival. */
class CommandOutput {
  readonly #keepOutput: ((bytes: Uint8Array) => void) | undefined;
  readonly #output = { stdout: new BoundedOutput(), stderr: new BoundedOutput(), merged: new BoundedOutput() };
  /**
   * The first bytes of an incomplete character, held back so that the other stream is not inserted in the middle of it.
   */
  readonly #unfinished: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

  /** `keep` receives the complete output of both streams, in order of arrival. */
  constructor(keep?: (bytes: Uint8Array) => void) {
    this.#keepOutput = keep;
  }

  push(stream: StreamName, chunk: Buffer): void {
    const rest = this.#unfinished[stream];
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.length - unfinishedBytes(bytes);
    this.#unfinished[stream] = Buffer.from(bytes.subarray(end));
    this.#add(stream, bytes.subarray(0, end));
  }

  /** Returns the whole output; call it once no more will arrive. */
  end(): { readonly stdout: string; readonly stderr: string; readonly merged: string; readonly isCut: boolean } {
    this.#add("stdout", this.#unfinished.stdout);
    this.#add("stderr", this.#unfinished.stderr);
    const { stdout, stderr, merged } = this.#output;
    return { stdout: stdout.text(), stderr: stderr.text(), merged: merged.text(), isCut: merged.isCut };
  }

  #add(stream: StreamName, bytes: Uint8Array): void {
    this.#output[stream].push(bytes);
    this.#output.merged.push(bytes);
    this.#keepOutput?.(bytes);
  }
}

export function exitCodeOf({ cause, exitCode }: CommandResult): number {
  return cause === "exited" ? (exitCode ?? unknownCode) : codes[cause];
}

/** Describes the end of a command for the model; cody's notes come before the command's output. */
export function commandReport(end: CommandResult, timeoutMs: number, output: string): string {
  return [
    `Exit code: ${exitCodeOf(end)}`,
    `Wall time: ${(end.durationMs / 1_000).toFixed(1)} seconds`,
    ...causeNotes(end, timeoutMs),
    ...leftRunningNotes(end.leftRunning),
    ...sandboxNotes(end, output),
    "Output:",
    output,
  ].join("\n");
}

function causeNotes({ cause, exitCode, wasHeldOpen }: CommandResult, timeoutMs: number): string[] {
  if (exitCode === undefined) return ["Could not be killed: it hangs in a system call and may still be running"];
  if (cause === "timed_out") return [`Timed out after ${counted(timeoutMs / 1_000, "second")} and was killed`];
  if (cause === "interrupted") return ["Interrupted with its turn and killed"];
  return wasHeldOpen
    ? ["Background processes kept the output open and were killed, except those listed as left running"]
    : [];
}

/** Tells the model what the sandbox has denied, so that it can do without it, or ask. */
function sandboxNotes(end: CommandResult, output: string): string[] {
  const { sandbox } = end;
  if (sandbox === undefined || exitCodeOf(end) === 0) return [];
  if (!sandbox.wasCreated) return ["The sandbox could not be created, so the command did not run"];
  const notes = sandbox.notes(output);
  if (notes.length === 0) return [];
  const request = "To run it outside of the sandbox, call shell with with_escalated_permissions and a justification";
  return [...notes.map((note) => `Sandbox: ${note}`), request];
}

function leftRunningNotes(survivors: readonly Survivor[]): string[] {
  if (survivors.length === 0) return [];
  const named = survivors.slice(0, maxNamed).map(({ pid, name }) => `pid ${pid} (${name})`);
  const more = survivors.length > maxNamed ? [`${survivors.length - maxNamed} more`] : [];
  return [`Left running: ${[...named, ...more].join(", ")}`];
}

type ShellArguments = z.infer<typeof ShellArguments>;

/**
 * Explains why nothing can be run in a folder. Checked before the start, because for a missing folder the system's
 * error blames the program.
 */
async function workingFolderProblem(folder: string, { cwd }: ToolScope): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return `cannot run in ${folder}: it is not a folder`;
    // Only the conversation's own folder may be used under the name it was given; any other was approved by its real
    // path.
    const isMoved = folder !== cwd && (await realpath(folder)) !== folder;
    return isMoved ? `cannot run in ${folder}: ${targetChanged}` : undefined;
  } catch (error) {
    return `cannot run in ${folder}: ${failureText(error)}`;
  }
}
