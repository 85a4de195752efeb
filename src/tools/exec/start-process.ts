import { type ChildProcess, spawn, type StdioOptions, execFile } from "node:child_process";
import type { Readable } from "node:stream";
import { close, constants, open } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { CommandProcess } from "./command-process.js";
import { guarded } from "./guarded.js";

const openDescriptor = promisify(open);

const closeDescriptor = promisify(close);

const execute = promisify(execFile);

const maxMakingMs = 2_000;

export interface ProcessOrder {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What its processes are known by. */
  readonly marker: string;
  readonly signal: AbortSignal;
}

/**
 * Starts a command with a guard and without input; undefined when the signal is aborted before. Rejects with the
 * system's error when it cannot be started.
 */
export async function startProcess(order: ProcessOrder): Promise<CommandProcess | undefined> {
  const pipes = await openOutputPipes(order.env);
  let command: CommandProcess | undefined;
  try {
    // Here and not before: making the pipes takes time.
    if (!order.signal.aborted) command = await spawnGuarded(order, pipes);
    return command;
  } finally {
    if (command === undefined) for (const reader of pipes?.readers ?? []) reader.destroy();
    await pipes?.closeWriters();
  }
}

async function spawnGuarded({ argv, cwd, env, marker }: ProcessOrder, pipes?: OutputPipes): Promise<CommandProcess> {
  const { file, args } = guarded(argv, marker);
  const [out, err] = pipes?.writers ?? (["pipe", "pipe"] as const);
  const stdio: StdioOptions = ["ignore", out, err, "pipe"];
  const child: ChildProcess = spawn(file, args, { cwd, env, detached: true, stdio });
  const failure = new Promise<Error>((resolve) => child.on("error", resolve));
  if (child.pid === undefined) throw await failure;
  // They are null only where a descriptor was given.
  const readers = pipes?.readers ?? ([child.stdout, child.stderr] as [Readable, Readable]);
  return new CommandProcess(child, child.pid, readers);
}

/** Pipes for what a command writes: our ends, and the descriptors it gets. */
interface OutputPipes {
  readonly readers: readonly [stdout: Readable, stderr: Readable];
  readonly writers: readonly [stdout: number, stderr: number];
  /** Once the command has them: as long as we hold them too, its output has no end. */
  closeWriters(): Promise<void>;
}

/**
 * What Node calls a pipe is a socket, and nobody can open a socket by name: a command that writes to /dev/stderr or
 * /dev/stdout would fail. Undefined where there can be no named pipes.
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

/** Both ends; what was opened is also put on the list, for when a later one fails. */
async function openFifo(name: string, opened: number[]): Promise<{ reader: number; writer: number }> {
  // Without O_NONBLOCK it would wait for a writer; the writer must not have it, since the command would have it too.
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
