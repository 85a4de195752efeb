import type { CommandResult } from "./run-command.js";
import type { Survivor } from "./survivors.js";
import { counted } from "../../base/text/counted.js";

const maxNamed = 20;

/** The exit codes of coreutils' `timeout` and of a shell after an interrupt. */
const codes = { timed_out: 124, interrupted: 130 } as const;
const unknownCode = -1;

export function exitCodeOf({ cause, exitCode }: CommandResult): number {
  return cause === "exited" ? (exitCode ?? unknownCode) : codes[cause];
}

/** Describes the end of a command for the model; cody's notes come before the command's output. */
export function commandReport(end: CommandResult, timeoutMs: number, output: string): string {
  return [
    `Exit code: ${exitCodeOf(end)}`,
    `Wall time: ${(end.durationMs / 1_000).toFixed(1)} seconds`,
    ...causeNotes(end, timeoutMs),
    ...leftRunningNotes(end.leftRunning),
    "Output:",
    output,
  ].join("\n");
}

function causeNotes({ cause, exitCode, wasHeldOpen }: CommandResult, timeoutMs: number): string[] {
  if (exitCode === undefined) return ["Could not be killed: it hangs in a system call and may still be running"];
  if (cause === "timed_out") return [`Timed out after ${counted(timeoutMs / 1_000, "second")} and was killed`];
  if (cause === "interrupted") return ["Interrupted with its turn and killed"];
  return wasHeldOpen
    ? ["Background processes kept the output open and were killed, except those listed as left running"]
    : [];
}

function leftRunningNotes(survivors: readonly Survivor[]): string[] {
  if (survivors.length === 0) return [];
  const named = survivors.slice(0, maxNamed).map(({ pid, name }) => `pid ${pid} (${name})`);
  const more = survivors.length > maxNamed ? [`${survivors.length - maxNamed} more`] : [];
  return [`Left running: ${[...named, ...more].join(", ")}`];
}
