import { resolve } from "node:path";
import { BoundedOutput } from "../exec/bounded-output.js";
import { FileProblem } from "../files/file-problem.js";
import { runCommand } from "../exec/run-command.js";
import type { ToolContext } from "../tool.js";
import { FirstLines } from "./first-lines.js";
import { searchStart } from "./search-start.js";

const timeoutMs = 30_000;
const errorBounds = { headBytes: 1_500, tailBytes: 500 };

/** Nothing that stands in a file of the user's or the project's changes what is looked for; the result has an order. */
const always = ["--no-config", "--color=never", "--no-messages", "--hidden", "--no-require-git", "--sort=path"];

export interface RipgrepOrder {
  readonly path: string;
  /** Which files are looked at; all unless said. */
  readonly glob: string | undefined;
  readonly args: readonly string[];
  readonly maxLines: number;
}

export interface RipgrepLines {
  /** At most as many as were asked for; paths begin at the working folder, or are absolute. */
  readonly lines: readonly string[];
  /** Whether there were more. */
  readonly isCut: boolean;
}

/** Lines that ripgrep finds; rejects with a problem for the model when it cannot. */
export async function ripgrepLines(order: RipgrepOrder, context: ToolContext): Promise<RipgrepLines> {
  const { signal, env } = context;
  const program = await ripgrepPath();
  const { cwd, start, flags, hidden } = await searchStart(order.path, context);
  await context.noteRead?.(resolve(cwd, start));
  const enough = new AbortController();
  const found = new FirstLines(order.maxLines, () => enough.abort());
  const errors = new BoundedOutput(errorBounds);
  const end = await runCommand({
    argv: [program, ...always, ...flags, ...order.args, ...globFlags(order.glob), ...hidden, "--", start],
    cwd,
    env,
    timeoutMs,
    signal: AbortSignal.any([signal, enough.signal]),
    onOutput: (stream, bytes) => (stream === "stdout" ? found : errors).push(bytes),
  });
  if (signal.aborted || end === undefined) throw new FileProblem("interrupted");
  const result = found.end();
  if (result.isCut) return result;
  if (end.cause === "timed_out")
    throw new FileProblem(`it took more than ${timeoutMs / 1_000} seconds; look in fewer files`);
  const isFailure = end.exitCode !== 0 && end.exitCode !== noMatch;
  // Files that cannot be read are passed over.
  if (isFailure && result.lines.length === 0 && errors.text() !== "") throw new FileProblem(errors.text().trim());
  return result;
}

const noMatch = 1;

/**
 * A glob for names is a type of files to ripgrep, since it would take a plain glob for a wish to see ignored files too.
 * Types know no folders. The last glob counts, so that nothing brings back what belongs to git.
 */
function globFlags(glob: string | undefined): string[] {
  const git = "--glob=!**/.git";
  if (glob === undefined) return [git];
  const isName = !glob.includes("/") && !glob.startsWith("!");
  return isName ? [`--type-add=cody:${glob}`, "--type=cody", git] : [`--glob=${glob}`, git];
}

async function ripgrepPath(): Promise<string> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    throw new FileProblem("ripgrep is not installed for this system; run ls, find or grep with shell instead");
  }
}
