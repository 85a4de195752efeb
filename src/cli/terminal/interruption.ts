import { exitCodes } from "../command-error.js";
import type { SignalName, Terminal } from "./terminal.js";

/** The time a terminated process may take to save and release its resources. */
const graceMs = 3_000;
const endingSignals = { SIGTERM: 143, SIGHUP: 129 } as const;

/** Whether this run was interrupted, and the exit code for that case. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
  readonly exitCode: number | undefined;
  /** Reports Ctrl-C from code that reads keys itself, where it raises no signal. */
  interrupt(): void;
}

/**
 * Listens to signals until disposed. Ctrl-C calls `onInterrupt`; without it, the first Ctrl-C stops the run and the
 * second ends the process.
 */
export function watchSignals(terminal: Terminal, onInterrupt?: () => void): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let grace: NodeJS.Timeout | undefined;

  function stop(code: number): void {
    exitCode = code;
    controller.abort();
  }

  function interrupt(): void {
    if (controller.signal.aborted) terminal.exit(exitCodes.interrupted);
    stop(exitCodes.interrupted);
  }

  const unlisten = terminal.onSignal((name: SignalName) => {
    if (name === "SIGINT") return (onInterrupt ?? interrupt)();
    const code = endingSignals[name];
    grace ??= setTimeout(() => terminal.exit(code), graceMs).unref();
    return stop(code);
  });

  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    interrupt: onInterrupt ?? interrupt,
    [Symbol.dispose]: () => {
      clearTimeout(grace);
      unlisten();
    },
  };
}
