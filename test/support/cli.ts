import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { runCommandLine } from "../../src/cli/run-command-line.js";
import { outputTo } from "../../src/cli/terminal/output.js";
import { expectDocumentedOutput } from "./json-output.js";
import type { Terminal } from "../../src/cli/terminal/terminal.js";

const main = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));

export type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** The whole content of stdin. */
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * What the offline model does in the middle of its answer: it waits until it is aborted, it waits on a promise that
   * never settles, or it throws. With `stall`, the end of the turn is never written to disk.
   */
  readonly middle?: "hold" | "abandon" | "crash" | "stall";
  /** Runs in a child process, for tests of the process itself, such as its start, its signals and its streams. */
  readonly spawned?: boolean;
}

/** The command line in a temporary home and project, which are removed when the test ends. */
export class Cli {
  readonly home: string;
  readonly project: string;

  readonly #spawned: boolean;

  private constructor(folder: string, spawned: boolean) {
    this.home = join(folder, "home");
    this.project = folder;
    this.#spawned = spawned;
  }

  /** With `spawned`, every command runs in a child process. */
  static async open({ spawned = false }: Pick<CliOptions, "spawned"> = {}): Promise<Cli> {
    const folder = await mkdtemp(join(await realpath(tmpdir()), "cody-cli-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    return new Cli(folder, spawned);
  }

  get conversations(): string {
    return join(this.home, "conversations");
  }

  get env(): NodeJS.ProcessEnv {
    // HOME is the project, so a cache there would be among the files of the project.
    const uncached = { NODE_DISABLE_COMPILE_CACHE: "1" };
    return { PATH: process.env["PATH"], HOME: this.project, CODY_HOME: this.home, TZ: "UTC", ...uncached };
  }

  /** Runs a command to its end, and checks that it never prints a stack trace. */
  async run(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
    const { spawned = this.#spawned || needsProcess(options) } = options;
    const result = await (spawned ? this.#runProcess(args, options) : this.#runHere(args, options));
    if (args.includes("--json") && result.code !== 2) expectDocumentedOutput(args, result.stdout);
    return result;
  }

  async #runHere(args: readonly string[], { cwd = this.project, ...options }: CliOptions): Promise<CliResult> {
    const env = { ...this.env, ...options.env };
    useHome(env["HOME"] ?? "");
    return await runInProcess(args, { ...options, cwd, env });
  }

  async #runProcess(args: readonly string[], options: CliOptions): Promise<CliResult> {
    const child = this.start(args, options);
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    return await finished(child);
  }

  start(args: readonly string[], { cwd = this.project, env = {}, middle }: CliOptions = {}): Child {
    const [program, ...others] = commandOf(args, middle);
    const child = spawn(program, others, { cwd, env: { ...this.env, ...env }, stdio: "pipe" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  }

  /** The ids of the saved conversations. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.conversations).catch(() => []);
    return names.flatMap((name) => (name.endsWith(".jsonl") ? [name.slice(0, -".jsonl".length)] : []));
  }

  /** The user's messages in the file of a conversation. */
  async said(id: string): Promise<string[]> {
    return (await this.lines(id)).flatMap((line) =>
      line.payload.type === "user_message" ? [line.payload.message] : [],
    );
  }

  /** The entries of the debug log. */
  async log(): Promise<{ level: string; message: string; fields: Record<string, unknown> }[]> {
    const logs = join(this.home, "logs");
    const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), "utf8")));
    return texts.flatMap((text) => text.trimEnd().split("\n")).map((line) => JSON.parse(line));
  }

  async lines(id: string): Promise<{ type: string; payload: { type: string; message: string } }[]> {
    const text = await readFile(join(this.conversations, `${id}.jsonl`), "utf8");
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
}

/** Runs a command to its end in this process; `run` is the command line under test. */
export async function runInProcess(
  args: readonly string[],
  { input = "", cwd, env }: { readonly input?: string; readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  run = runCommandLine,
): Promise<CliResult> {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const terminal: Terminal = {
    env,
    cwd,
    homedir: env["HOME"] ?? "",
    stdin: Readable.from(input === "" ? [] : [Buffer.from(input)]),
    isStdinPiped: false,
    stdout: outputTo(stdout, env),
    stderr: outputTo(stderr, env),
    onSignal: () => () => undefined,
    onCrash: () => () => undefined,
    exit: (code) => {
      throw new Error(`the command ended its process with code ${code}`);
    },
  };
  const code = await run(args, terminal);
  return withoutStack({ code, signal: null, stdout: stdout.text, stderr: stderr.text });
}

/** The program and arguments that run the built command line. */
export function commandOf(args: readonly string[], middle?: CliOptions["middle"]): [string, ...string[]] {
  const preload =
    middle === undefined ? [] : ["--import", new URL(`../cli/preload/${middle}.mjs`, import.meta.url).href];
  return [process.execPath, ...preload, main, ...args];
}

export async function finished(child: Child): Promise<CliResult> {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return withoutStack({ code, signal, stdout, stderr });
}

function withoutStack(result: CliResult): CliResult {
  expect(result.stdout + result.stderr).not.toMatch(/^\s+at .+:\d+:\d+/m);
  return result;
}

/** Sets the system's home directory until the test ends, because the library reads it. */
function useHome(folder: string): void {
  const before = process.env["HOME"];
  if (before === folder) return;
  process.env["HOME"] = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env["HOME"];
    else process.env["HOME"] = before;
  });
}

function isOfProcess(name: string): boolean {
  return name === "TZ" || name.startsWith("NODE_");
}

/** Whether the options need a child process. */
function needsProcess({ env = {}, middle }: CliOptions): boolean {
  const hasHome = isAbsolute(env["HOME"] ?? "/");
  return middle !== undefined || !hasHome || Object.keys(env).some(isOfProcess);
}

/** A stream that collects what is written to it. */
class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}

/** Resolves when the stream has emitted this text; the text that was read stays readable. */
export async function saysOn(stream: Readable, text: string): Promise<void> {
  let seen = "";
  await new Promise<void>((resolve, reject) => {
    const onReadable = (): void => {
      const chunk: Buffer | null = stream.read();
      if (chunk === null) return;
      seen += chunk.toString();
      if (!seen.includes(text)) return;
      stream.off("readable", onReadable);
      stream.unshift(Buffer.from(seen));
      resolve();
    };
    stream.on("readable", onReadable);
    stream.once("end", () => reject(new Error(`ended before it said ${text}: ${seen}`)));
  });
}

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}
