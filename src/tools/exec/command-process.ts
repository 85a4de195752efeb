import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { guardDescriptor } from "./guarded.js";

/** A command that runs: the leader of a session and a group of its own, with a guard beside it. */
export class CommandProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its exit code; of one that a signal ended, what a shell would say. */
  readonly exited: Promise<number>;
  readonly #guard: Socket;
  #hasExited = false;
  #isGuarded = true;

  constructor(child: ChildProcess, pid: number, [stdout, stderr]: readonly [Readable, Readable]) {
    this.pid = pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#guard = child.stdio[guardDescriptor] as Socket;
    // A pipe that breaks has ended.
    for (const pipe of [stdout, stderr, this.#guard]) pipe.on("error", () => {});
    this.#guard.once("close", () => (this.#isGuarded = false)).resume();
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#hasExited = true;
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  }

  /** To everything in its group. When command and guard are both gone, the id may have been given to someone else. */
  signalGroup(signal: NodeJS.Signals): void {
    if (this.#hasExited && !this.#isGuarded) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // Nobody is left, or nobody that we may send signals to.
    }
  }

  /** Lets go of it; a guard that still lives ends what is left of the group. */
  [Symbol.dispose](): void {
    for (const pipe of [this.stdout, this.stderr, this.#guard]) pipe.destroy();
  }
}
