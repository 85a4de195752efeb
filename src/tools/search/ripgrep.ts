import { resolve } from "node:path";
import { BoundedOutput } from "../exec/bounded-output.js";
import { runCommand } from "../exec/run-command.js";
import { FileProblem } from "../files/file-problem.js";
import type { ToolContext } from "../tool.js";
import { searchStart } from "./search-start.js";

const maxBytes = 32 * 1024;

const newline = 0x0a;

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

/** The first lines of something of any length; says when there are enough of them. */
class FirstLines {
  readonly #maxLines: number;
  readonly #onEnough: () => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #count = 0;
  #isCut = false;

  constructor(maxLines: number, onEnough: () => void) {
    this.#maxLines = maxLines;
    this.#onEnough = onEnough;
  }

  push(bytes: Buffer): void {
    if (this.#isCut || bytes.length === 0) return;
    const end = this.#endOfRoom(bytes);
    this.#pieces.push(Buffer.from(bytes.subarray(0, end)));
    this.#bytes += end;
    if (end === bytes.length) return;
    this.#isCut = true;
    this.#onEnough();
  }

  /** The lines that are whole, without a dot and a slash at their start. */
  end(): { readonly lines: readonly string[]; readonly isCut: boolean } {
    const lines = Buffer.concat(this.#pieces).toString().split("\n");
    // Behind the last line end there is nothing, or a part of a line.
    const last = lines.pop() ?? "";
    if (last !== "" && !this.#isCut) lines.push(last);
    return { lines: lines.map((line) => line.replace(/^\.\//, "")), isCut: this.#isCut };
  }

  /** How many of the bytes there is room for; a byte more than that means that there are more lines. */
  #endOfRoom(bytes: Buffer): number {
    const room = Math.min(bytes.length, maxBytes - this.#bytes);
    for (let at = bytes.indexOf(newline); at !== -1 && at < room; at = bytes.indexOf(newline, at + 1)) {
      this.#count += 1;
      if (this.#count === this.#maxLines) return Math.min(room, at + 1);
      if (this.#count > this.#maxLines) return 0;
    }
    return this.#count >= this.#maxLines ? 0 : room;
  }
}
