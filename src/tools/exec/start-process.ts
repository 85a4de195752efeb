import { type ChildProcess, spawn, type StdioOptions, execFile } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import { close, constants, open } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { filterDescriptor, type SandboxedCommand } from "./command-sandbox.js";
import { CommandProcess, withGuard } from "./command-process.js";

const openDescriptor = promisify(open);

const closeDescriptor = promisify(close);

const execute = promisify(execFile);

const maxMakingMs = 2_000;

interface ProcessRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The text that the command reads from stdin; nothing by default. */
  readonly input?: string;
  /** Identifies the command's processes. */
  readonly marker: string;
  /** Starts the command in a sandbox. */
  readonly sandboxed?: Pick<SandboxedCommand, "argv" | "env" | "filter"> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Starts a command with a guard; undefined if the signal was aborted before. Rejects with the
 * system's error if it cannot be started.
 */
export async function startProcess(order: ProcessRequest): Promise<CommandProcess | undefined> {
  const pipes = await openOutputPipes(order.env);
  let command: CommandProcess | undefined;
  try {
    // Checked here, because creating the pipes takes time.
    if (!order.signal.aborted) command = await spawnGuarded(order, pipes);
    return command;
  } finally {
    if (command === undefined) for (const reader of pipes?.readers ?? []) reader.destroy();
    await pipes?.closeWriters();
  }
}

async function spawnGuarded(order: ProcessRequest, pipes?: OutputPipes): Promise<CommandProcess> {
  const { cwd, input, marker, sandboxed } = order;
  const { file, args } = withGuard((sandboxed ?? order).argv, marker);
  const [out, err] = pipes?.writers ?? (["pipe", "pipe"] as const);
  const stdio: StdioOptions = [
    input === undefined ? "ignore" : "pipe",
    out,
    err,
    "pipe",
    ...(sandboxed === undefined ? [] : (["pipe", "pipe"] as const)),
  ];
  const env = { ...order.env, ...sandboxed?.env };
  const child: ChildProcess = spawn(file, args, { cwd, env, detached: true, stdio });
  const failure = new Promise<Error>((resolve) => child.on("error", resolve));
  if (child.pid === undefined) throw await failure;
  // A command may end without reading its input.
  child.stdin?.on("error", () => undefined).end(input);
  if (sandboxed !== undefined) {
    // The sandbox's program may end before it has read the filter.
    const filter = (child.stdio[filterDescriptor] as Duplex).on("error", () => undefined).resume();
    filter.end(sandboxed.filter);
  }
  // These are null only where a descriptor was passed.
  const readers = pipes?.readers ?? ([child.stdout, child.stderr] as [Readable, Readable]);
  return new CommandProcess(child, child.pid, readers);
}

/** The pipes for a command's output: our ends, and the descriptors passed to the command. */
interface OutputPipes {
  readonly readers: readonly [stdout: Readable, stderr: Readable];
  readonly writers: readonly [stdout: number, stderr: number];
  /** Call it once the command has the descriptors: as long as we hold them too, its output never ends. */
  closeWriters(): Promise<void>;
}

/**
 * Node's own pipes are sockets, which cannot be opened by name: a command that writes to /dev/stderr or /dev/stdout
 * would fail. Returns undefined where named pipes cannot be created.
 */
async function openOutputPipes(env: Readonly<Record<string, string>>): Promise<OutputPipes | undefined> {
  const folder = await mkdtemp(join(env["TMPDIR"] ?? "/tmp", "cody-pipes-")).catch(() => undefined);
  if (folder === undefined) return undefined;
  const opened: number[] = [];
  try {
    const names = [join(folder, "stdout"), join(folder, "stderr")] as const;
    await execute("mkfifo", ["-m", "600", ...names], { env: { PATH: "/usr/bin:/bin" }, timeout: maxMakingMs });
    const [stdout, stderr] = [await openFifo(names[0], opened), await openFifo(names[1], opened)];
    return {
      readers: [readerOf(stdout.reader), readerOf(stderr.reader)],
      writers: [stdout.writer, stderr.writer],
      closeWriters: () => closeAll([stdout.writer, stderr.writer]),
    };
  } catch {
    await closeAll(opened);
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Opens both ends, and adds them to `opened` so that they are closed if a later step fails. */
async function openFifo(name: string, opened: number[]): Promise<{ reader: number; writer: number }> {
  // Without O_NONBLOCK, opening the reader would block until there is a writer. The writer must not be non-blocking,
  // because the command inherits it.
  const reader = await openDescriptor(name, constants.O_RDONLY | constants.O_NONBLOCK);
  opened.push(reader);
  const writer = await openDescriptor(name, constants.O_WRONLY);
  opened.push(writer);
  return { reader, writer };
}

function readerOf(descriptor: number): Readable {
  return new Socket({ fd: descriptor, readable: true, writable: false });
}

async function closeAll(descriptors: readonly number[]): Promise<void> {
  await Promise.all(descriptors.map((descriptor) => closeDescriptor(descriptor)));
}
