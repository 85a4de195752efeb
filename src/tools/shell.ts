import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { ToolOutput } from "../messages/tools/tool.js";
import { CommandOutput } from "./exec/command-output.js";
import { commandReport, exitCodeOf } from "./exec/command-report.js";
import { defineTool } from "./define-tool.js";
import { ExecEvents } from "./exec/exec-events.js";
import { failureText } from "./failure-words.js";
import { runCommand } from "./exec/run-command.js";
import { defaultTimeoutMs, ShellArguments } from "./exec/shell-arguments.js";
import type { CommandLine, ToolContext, ToolScope } from "./tool.js";
import { workingFolderProblem } from "./exec/working-folder.js";

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

async function commandOf({ command, workdir }: ShellArguments, { cwd }: ToolScope): Promise<CommandLine> {
  return {
    argv: typeof command === "string" ? ["sh", "-c", command] : command,
    cwd: workdir === undefined ? cwd : await realFolder(resolve(cwd, workdir)),
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
