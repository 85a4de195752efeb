import { resolve, relative } from "node:path";
import { realpath, stat } from "node:fs/promises";
import * as z from "zod";
import { BoundedOutput } from "../../base/text/bounded-output.js";
import { ArgumentText } from "../define-tool.js";
import { runCommand } from "../exec/run-command.js";
import { FileProblem, rejectSpecialFile } from "../files/file-problem.js";
import { refuseSystemFile } from "../files/open-for-model.js";
import { realPrivatePaths, refusePrivate } from "../policy/target-paths.js";
import type { ToolContext, ToolScope } from "../tool.js";

const maxLimit = 1_000;

export const StartPath = ArgumentText.min(1)
  .optional()
  .describe("The file or folder to search, relative to the working folder; the whole folder by default");

export const Glob = ArgumentText.min(1)
  .optional()
  .describe('Which files, such as "*.ts" or "!test/**"; all by default. A glob with a folder also finds ignored files');

const defaultMaxBytes = 32 * 1024;

const newline = 0x0a;

const timeoutMs = 30_000;
const errorBounds = { headBytes: 1_500, tailBytes: 500 };

/** No configuration file of the user or the project changes the search, and the results are sorted. */
const always = ["--no-config", "--color=never", "--no-messages", "--hidden", "--no-require-git", "--sort=path"];

const noMatch = 1;

interface RipgrepRequest {
  readonly path: string;
  /** Restricts the files; undefined for all. */
  readonly glob: string | undefined;
  readonly args: readonly string[];
  readonly maxLines: number;
  /** As much as a model should get, by default. */
  readonly maxBytes?: number;
}

/** The parts of a tool's context that a search uses. */
type SearchContext = ToolScope & Pick<ToolContext, "signal" | "env" | "noteRead">;

export interface RipgrepLines {
  /** At most `maxLines`; paths are relative to the working folder, or absolute. */
  readonly lines: readonly string[];
  /** Whether there were more. */
  readonly isCut: boolean;
}

/** Runs ripgrep and returns its lines; rejects with an explanation for the model if it fails. */
export async function ripgrepLines(order: RipgrepRequest, context: SearchContext): Promise<RipgrepLines> {
  const { signal, env } = context;
  const program = await ripgrepPath();
  const { cwd, start, flags, hidden } = await searchStart(order.path, context);
  await context.noteRead?.(resolve(cwd, start));
  const limitReached = new AbortController();
  const found = new FirstLines(order, () => limitReached.abort());
  const errors = new BoundedOutput(errorBounds);
  const end = await runCommand({
    argv: [program, ...always, ...flags, ...order.args, ...globFlags(order.glob), ...hidden, "--", start],
    cwd,
    env,
    timeoutMs,
    signal: AbortSignal.any([signal, limitReached.signal]),
    onOutput: (stream, bytes) => (stream === "stdout" ? found : errors).push(bytes),
  });
  if (signal.aborted || end === undefined) throw new FileProblem("interrupted");
  const result = found.end();
  if (result.isCut) return result;
  if (end.cause === "timed_out")
    throw new FileProblem(`it took more than ${timeoutMs / 1_000} seconds; search fewer files`);
  const isFailure = end.exitCode !== 0 && end.exitCode !== noMatch;
  // Unreadable files are skipped.
  if (isFailure && result.lines.length === 0 && errors.text() !== "") throw new FileProblem(errors.text().trim());
  return result;
}

/**
 * A glob for file names is passed as a file type, because with a plain glob ripgrep would also show ignored files.
 * Types cannot match folders. The last glob wins, so nothing can re-include git's own files.
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
    throw new FileProblem("ripgrep is not available on this system; run ls, find or grep with shell instead");
  }
}

/** Keeps the first lines of an output of any length; reports when there are enough. */
class FirstLines {
  readonly #maxLines: number;
  readonly #maxBytes: number;
  readonly #onLimit: () => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #count = 0;
  #isCut = false;

  constructor(
    { maxLines, maxBytes = defaultMaxBytes }: Pick<RipgrepRequest, "maxLines" | "maxBytes">,
    onLimit: () => void,
  ) {
    this.#maxLines = maxLines;
    this.#maxBytes = maxBytes;
    this.#onLimit = onLimit;
  }

  push(bytes: Buffer): void {
    if (this.#isCut || bytes.length === 0) return;
    const end = this.#fittingBytes(bytes);
    this.#pieces.push(Buffer.from(bytes.subarray(0, end)));
    this.#bytes += end;
    if (end === bytes.length) return;
    this.#isCut = true;
    this.#onLimit();
  }

  /** The complete lines, without a leading `./`. */
  end(): { readonly lines: readonly string[]; readonly isCut: boolean } {
    const lines = Buffer.concat(this.#pieces).toString().split("\n");
    // After the last line break there is nothing, or an incomplete line.
    const last = lines.pop() ?? "";
    if (last !== "" && !this.#isCut) lines.push(last);
    return { lines: lines.map((line) => line.replace(/^\.\//, "")), isCut: this.#isCut };
  }

  /** How many of the bytes still fit; any byte beyond means that there are more lines. */
  #fittingBytes(bytes: Buffer): number {
    const room = Math.min(bytes.length, this.#maxBytes - this.#bytes);
    for (let at = bytes.indexOf(newline); at !== -1 && at < room; at = bytes.indexOf(newline, at + 1)) {
      this.#count += 1;
      if (this.#count === this.#maxLines) return Math.min(room, at + 1);
      if (this.#count > this.#maxLines) return 0;
    }
    return this.#count >= this.#maxLines ? 0 : room;
  }
}

/** The start of a search: the folder to run in, a path relative to it, and additional flags. */
interface SearchStart {
  readonly cwd: string;
  readonly start: string;
  readonly flags: readonly string[];
  /** Globs that exclude private files; they win over all others. */
  readonly hidden: readonly string[];
}

/** Rejects anything but a folder or a regular file, and rejects system files and files with keys. */
export async function searchStart(path: string, scope: ToolScope): Promise<SearchStart> {
  const cwd = await realpath(scope.cwd);
  const real = await realpath(resolve(cwd, path));
  refuseSystemFile(real);
  await refusePrivate(real, scope);
  const stats = await stat(real, { bigint: true });
  if (!stats.isDirectory()) rejectSpecialFile(stats);
  const inside = pathInside(cwd, real);
  const start = inside === undefined ? real : inside === "" ? "." : `./${inside}`;
  const problem = await scope.reading?.problem({ realPath: real, stats });
  if (problem !== undefined) throw new FileProblem(problem);
  const privateGlobs = (await realPrivatePaths(scope)).map((found) => globOf(found, cwd));
  const { paths = [], globs = [] } = stats.isDirectory() ? ((await scope.reading?.hiddenIn(real)) ?? {}) : {};
  const hidden = [
    ...privateGlobs.flatMap((glob) => [`--glob=!${glob}`, `--glob=!${glob}.*`]),
    ...paths.map((found) => `--glob=!${globOf(found, cwd)}`),
    ...globs.map((glob) => `--glob=!${glob}`),
  ];
  // Starting at the root would include system files, which are on other file systems.
  return { cwd, start, flags: real === "/" ? ["--one-file-system"] : [], hidden };
}

/** The relative path from a folder to a path inside it; undefined if it is outside. */
function pathInside(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  return inside === ".." || inside.startsWith("../") ? undefined : inside;
}

/** ripgrep matches paths relative to its folder, and absolute paths outside of it. */
function globOf(path: string, cwd: string): string {
  const inside = pathInside(cwd, path);
  const literal = (inside ?? path).replaceAll(/[*?[\]{}\\]/g, "\\$&");
  return inside === undefined ? `**${literal}` : `/${literal}`;
}

export function limitArgument(defaultLimit: number) {
  return z.int().min(1).max(maxLimit).optional().describe(`Maximum number of lines; ${defaultLimit} by default`);
}
