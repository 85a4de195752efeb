import { randomUUID } from "node:crypto";
import { type CommandProcess, readThrottled } from "./command-process.js";
import { startProcess } from "./start-process.js";
import { findSurvivors, killSurvivors, type Survivor } from "./survivors.js";
import { within } from "../../base/time/waiting.js";
import { withinRounds } from "../../base/time/waiting.js";

interface CommandRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  onOutput(stream: "stdout" | "stderr", bytes: Buffer): void;
}

export interface CommandResult {
  readonly cause: "exited" | "timed_out" | "interrupted";
  /** Undefined if it could not even be killed, because it hangs in the kernel. */
  readonly exitCode: number | undefined;
  /** Whether background processes kept the output open after the command had ended. */
  readonly wasHeldOpen: boolean;
  readonly leftRunning: readonly Survivor[];
  readonly durationMs: number;
}

/** The maximum time to wait in each phase. */
interface CommandTimeouts {
  /** For the end of the output, after the command has ended. */
  readonly drainMs: number;
  /** Between asking a command to end and killing it, after a timeout. */
  readonly timeoutGraceMs: number;
  /** The same after an interrupt, where the user is waiting. */
  readonly interruptGraceMs: number;
  /** For killed processes to end. */
  readonly killMs: number;
  /** For the rest of the output, after everything was ended. */
  readonly restMs: number;
}

const defaultTimeouts: CommandTimeouts = {
  drainMs: 2_000,
  timeoutGraceMs: 2_000,
  interruptGraceMs: 150,
  killMs: 5_000,
  restMs: 100,
};

/**
 * Runs a command to its end; when this settles, no process of its group is alive. Returns undefined if it was
 * interrupted before it started; rejects with the system's error if it cannot be started.
 */
export async function runCommand(
  order: CommandRequest,
  timeouts = defaultTimeouts,
): Promise<CommandResult | undefined> {
  const marker = randomUUID();
  const startedAt = performance.now();
  using command = await startProcess({ ...order, marker });
  if (command === undefined) return undefined;
  const output = readOutput(command, order);
  const cause = await causeOfEnd(command, order);
  const wasHeldOpen = cause === "exited" && !(await withinRounds(output, timeouts.drainMs, order.signal));
  if (cause !== "exited") await askToEnd(command, output, cause, order.signal, timeouts);
  command.signalGroup("SIGKILL");
  const exitCode = (await withinRounds(command.exited, timeouts.killMs)) ? await command.exited : undefined;
  const durationMs = performance.now() - startedAt;
  const isUnwanted = cause !== "exited" || order.signal.aborted;
  const leftRunning = await (isUnwanted ? killSurvivors : findSurvivors)(marker, command.pid);
  await withinRounds(output, timeouts.restMs);
  return { cause, exitCode, wasHeldOpen, leftRunning, durationMs };
}

/** Resolves when both streams have ended or were destroyed. */
async function readOutput({ stdout, stderr }: CommandProcess, order: CommandRequest): Promise<void> {
  await Promise.all([
    readThrottled(stdout, (bytes) => order.onOutput("stdout", bytes)),
    readThrottled(stderr, (bytes) => order.onOutput("stderr", bytes)),
  ]);
}

async function causeOfEnd(
  command: CommandProcess,
  { timeoutMs, signal }: CommandRequest,
): Promise<CommandResult["cause"]> {
  if (await within(command.exited, timeoutMs, signal)) return "exited";
  return signal.aborted ? "interrupted" : "timed_out";
}

/**
 * Gives the whole group time to clean up. After a timeout, an interrupt cuts this short, because the user is waiting.
 */
async function askToEnd(
  command: CommandProcess,
  output: Promise<void>,
  cause: "timed_out" | "interrupted",
  signal: AbortSignal,
  timeouts: CommandTimeouts,
): Promise<void> {
  command.signalGroup("SIGTERM");
  const ended = Promise.all([command.exited, output]);
  if (cause === "timed_out") await within(ended, timeouts.timeoutGraceMs, signal);
  else await within(ended, timeouts.interruptGraceMs);
}
