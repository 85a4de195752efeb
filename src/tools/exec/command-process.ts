import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { guardDescriptor } from "./guarded.js";

/** A running command: the leader of its own session and process group, with a guard process beside it. */
export class CommandProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code; for a command ended by a signal, 128 plus the signal number, as in a shell. */
  readonly exited: Promise<number>;
  readonly #guard: Socket;
  #hasExited = false;
  #isGuarded = true;

  constructor(child: ChildProcess, pid: number, [stdout, stderr]: readonly [Readable, Readable]) {
    this.pid = pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#guard = child.stdio[guardDescriptor] as Socket;
    // An error on a pipe counts as its end.
    for (const pipe of [stdout, stderr, this.#guard]) pipe.on("error", () => {});
    this.#guard.once("close", () => (this.#isGuarded = false)).resume();
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#hasExited = true;
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  }

  /**
   * Signals the whole process group. Once command and guard are both gone, the system may have reused the process id.
   */
  signalGroup(signal: NodeJS.Signals): void {
    if (this.#hasExited && !this.#isGuarded) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // No process is left, or none that we may signal.
    }
  }

  /** Closes the pipes; a guard that is still alive then kills the rest of the group. */
  [Symbol.dispose](): void {
    for (const pipe of [this.stdout, this.stderr, this.#guard]) pipe.destroy();
  }
}
