import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import type { Readable } from "node:stream";
import { CommandProcess } from "./command-process.js";
import { guarded } from "./guarded.js";
import { openOutputPipes, type OutputPipes } from "./output-pipes.js";

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
