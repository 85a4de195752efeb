import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { hasProcessEnded } from "../../base/process/process-state.js";
import { filterDescriptor, infoDescriptor } from "./command-sandbox.js";

/** This much is read at full speed; afterwards there is a pause after each burst. */
const freeBytes = 4 * 1024 * 1024;

const burstBytes = 1024 * 1024;

const pauseMs = 10;

/** The minimum that a chunk counts for: many small chunks are as much work as a few large ones. */
const minChunkBytes = 8 * 1024;

/** A few times the length of the reports. */
const maxReportChars = 4_096;

/** Processes of a sandbox that is ending need only a moment. */
const endPollMs = 1;

/** The environment variable that identifies a command's processes, even after they leave its group. */
export const markerName = "CODY_CALL";

/**
 * Shell command that lists the `environ` files in /proc of the processes with the marker `$1`; nothing where there is
 * no /proc. Its exit status is meaningless, because files of other users cannot be read.
 */
const findMarked = `grep -lsF "${markerName}=$1" /proc/[0-9]*/environ`;

/** The file descriptor whose other end only this process holds. */
export const guardDescriptor = 3;

// Signals that a command may send to its own group. A signal that cannot be ignored ends the guard together with the
// command.
const ignored = "HUP INT QUIT PIPE ALRM TERM USR1 USR2";

/**
 * Starts a guard in the command's group and then executes the command in place. The guard reads a descriptor that
 * closes when our process ends, however it dies; then it kills every process with the marker and the whole group. It is
 * forked twice, so that a command that waits for all its children does not wait for the guard. It is forked before the
 * marker is exported, so that it does not find itself, and after its signals are ignored, so that none can end it at
 * startup. It never holds the command's output open, because the end of that output is what the shell tool waits for.
 */
const script = `trap '' ${ignored}
( exec </dev/null >/dev/null 2>&1 ${filterDescriptor}<&- ${infoDescriptor}>&-
(
while read -r _ <&${guardDescriptor}; do :; done
export PATH=/usr/bin:/bin LC_ALL=C; rounds=10
while found=$(${findMarked}); [ -n "$found" ] && [ $rounds -gt 0 ]; do
for file in $found; do file=\${file#/proc/}; kill -KILL \${file%/environ}; done
rounds=$((rounds - 1))
done
kill -KILL 0
) & )
trap - ${ignored}
export ${markerName}="$1"
shift
exec "$@" ${guardDescriptor}<&-`;

/** A running command: the leader of its own session and process group, with a guard process beside it. */
export class CommandProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code; for a command ended by a signal, 128 plus the signal number, as in a shell. */
  readonly exited: Promise<number>;
  readonly #guard: Socket;
  /** Reports of the sandbox's program; undefined if the command runs outside. */
  readonly #sandboxInfo: Socket | undefined;
  #sandboxReports = "";
  #hasExited = false;
  #isGuarded = true;

  constructor(child: ChildProcess, pid: number, [stdout, stderr]: readonly [Readable, Readable]) {
    this.pid = pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#guard = child.stdio[guardDescriptor] as Socket;
    // The type of a process knows five descriptors only.
    const descriptors: readonly unknown[] = child.stdio;
    this.#sandboxInfo = (descriptors[infoDescriptor] ?? undefined) as Socket | undefined;
    // An error on a pipe counts as its end.
    for (const pipe of this.#pipes) pipe.on("error", () => {});
    this.#sandboxInfo?.on("data", (bytes: Buffer) => {
      if (this.#sandboxReports.length < maxReportChars) this.#sandboxReports += bytes.toString("latin1");
    });
    this.#guard.once("close", () => (this.#isGuarded = false)).resume();
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#hasExited = true;
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  }

  /** Whether the sandbox was set up and the command in it has ended; undefined if the command runs outside. */
  get ranInSandbox(): boolean | undefined {
    return this.#sandboxInfo && this.#sandboxReports.includes('"exit-code"');
  }

  /**
   * Signals the whole process group. Once command and guard are both gone, the system may have reused the process id.
   */
  signalGroup(signal: NodeJS.Signals): void {
    if (this.#hasExited && !this.#isGuarded) return;
    const inside = this.#insidePid;
    // The sandbox has a group of its own. Its program would kill everything in it at once if it were asked to end.
    if (inside !== undefined && signal !== "SIGKILL" && signalled(-inside, signal)) return;
    signalled(-this.pid, signal);
  }

  /** Resolves when no process is left in the sandbox, which ends with its program; false if it takes too long. */
  async sandboxEnded(timeoutMs: number): Promise<boolean> {
    const pid = this.#insidePid;
    if (pid === undefined) return true;
    const end = performance.now() + timeoutMs;
    while (!(await hasProcessEnded(pid))) {
      if (performance.now() > end) return false;
      await sleep(endPollMs);
    }
    return true;
  }

  /** Closes the pipes; a guard that is still alive then kills the rest of the group. */
  [Symbol.dispose](): void {
    for (const pipe of this.#pipes) pipe.destroy();
  }

  get #pipes(): (Readable | Socket)[] {
    return [this.stdout, this.stderr, this.#guard, ...(this.#sandboxInfo === undefined ? [] : [this.#sandboxInfo])];
  }

  /** The process id, outside, of the first process in the sandbox; all others end with it. */
  get #insidePid(): number | undefined {
    const digits = /"child-pid": *(\d+)/.exec(this.#sandboxReports)?.[1];
    return digits === undefined ? undefined : Number(digits);
  }
}

/** Returns whether there was a process to signal. */
function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // No process is left, or none that we may signal.
    return false;
  }
}

/** Adds a guard to an argument vector. Process id, exit code and signals are still the command's own. */
export function withGuard(argv: readonly string[], marker: string): { readonly file: string; readonly args: string[] } {
  return { file: "/bin/sh", args: ["-c", script, "cody", marker, ...argv] };
}

/**
 * Reads to the end; resolves when the stream is closed for any reason. A command with endless output must not block
 * this thread, so it is slowed down as if by a slow terminal.
 */
export function readThrottled(stream: Readable, onBytes: (bytes: Buffer) => void): Promise<void> {
  let untilPause = freeBytes;
  let pause: NodeJS.Timeout | undefined;
  stream.on("data", (bytes: Buffer) => {
    onBytes(bytes);
    untilPause -= Math.max(bytes.length, minChunkBytes);
    if (untilPause > 0) return;
    untilPause = burstBytes;
    stream.pause();
    pause = setTimeout(() => stream.resume(), pauseMs);
  });
  // A command without output may have ended before it is read, and `close` is emitted only once.
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", () => {
      clearTimeout(pause);
      resolve();
    });
  });
}
