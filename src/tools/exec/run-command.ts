import { randomUUID } from "node:crypto";
import type { CommandSandbox, SandboxedCommand } from "./command-sandbox.js";
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
  /** The text that the command reads from stdin; nothing by default. */
  readonly input?: string;
  readonly signal: AbortSignal;
  /** Absent if the command runs outside, with the user's rights. */
  readonly sandbox?: CommandSandbox | undefined;
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
  /** Present if the command ran in a sandbox. */
  readonly sandbox?: SandboxOutcome;
}

interface SandboxOutcome extends Pick<SandboxedCommand, "notes"> {
  /** False if the sandbox could not be created, so that the command did not run. */
  readonly wasCreated: boolean;
}

/** Added to the number of the signal that has ended a command. */
const codeOfSignals = 128;

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
  await using sandboxed = await order.sandbox?.enter(order);
  using command = await startProcess({ ...order, marker, sandboxed });
  if (command === undefined) return undefined;
  const output = readOutput(command, order);
  const cause = await causeOfEnd(command, order);
  const wasHeldOpen = cause === "exited" && !(await withinRounds(output, timeouts.drainMs, order.signal));
  if (cause !== "exited") await askToEnd(command, output, cause, order.signal, timeouts);
  command.signalGroup("SIGKILL");
  const exitCode = (await withinRounds(command.exited, timeouts.killMs)) ? await command.exited : undefined;
  const durationMs = performance.now() - startedAt;
  const leftRunning = await endedSurvivors(command, marker, cause !== "exited" || order.signal.aborted, timeouts);
  await withinRounds(output, timeouts.restMs);
  const end = { cause, exitCode, wasHeldOpen, leftRunning, durationMs };
  if (sandboxed === undefined) return end;
  const wasKilled = exitCode === undefined || exitCode > codeOfSignals;
  const wasCreated = cause !== "exited" || command.ranInSandbox === true || wasKilled;
  return { ...end, sandbox: { wasCreated, notes: (text) => sandboxed.notes(text) } };
}

/** The processes that left the command's group, after they were killed if they are unwanted. */
async function endedSurvivors(
  command: CommandProcess,
  marker: string,
  areUnwanted: boolean,
  { killMs }: CommandTimeouts,
): Promise<readonly Survivor[]> {
  // No process can leave a sandbox, and all of them are killed with it.
  if (command.ranInSandbox !== undefined && (await command.sandboxEnded(killMs))) return [];
  return await (areUnwanted ? killSurvivors : findSurvivors)(marker, command.pid);
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
