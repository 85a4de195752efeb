import { fstatSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { CommandError, exitCodes } from "./command-error.js";
import { type Output, outputTo } from "./terminal/output.js";
import { processJobControl } from "./terminal/screen/job-control.js";
import { runCommandLine } from "./run-command-line.js";
import { type SignalName, signalNames, type Terminal } from "./terminal/terminal.js";

const stdinDescriptor = 0;

/** Runs the command line of this process and sets the exit code; the event loop then drains by itself. */
export async function runProcess(): Promise<void> {
  process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal());
}

/** The only place that touches the process: all other code gets a `Terminal`. */
function processTerminal(): Terminal {
  let stderr: Output | undefined;
  return {
    env: process.env,
    get cwd() {
      return currentFolder();
    },
    get homedir() {
      return ownFolder();
    },
    // Opened only by commands that read it.
    get stdin() {
      return process.stdin;
    },
    get isStdinPiped() {
      return isPiped(stdinDescriptor);
    },
    stdout: outputTo(process.stdout, process.env),
    // Opened on first use: creating a stream takes longer than a short command can spare.
    get stderr() {
      stderr ??= outputTo(process.stderr, process.env);
      return stderr;
    },
    program: [process.execPath, ...process.argv.slice(1, 2)],
    onSignal,
    job: processJobControl(),
    onCrash,
    exit: (code) => process.exit(code),
  };
}

function isPiped(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile();
  } catch {
    // A closed descriptor has no input.
    return false;
  }
}

/** Falls back to the password file: a relative HOME would scatter files over the current folders. */
function ownFolder(): string {
  const home = homedir();
  return isAbsolute(home) ? home : userInfo().homedir;
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const hint = "Change to an existing folder, for example: cd ~";
    throw new CommandError("The current folder no longer exists", exitCodes.failed, [hint]);
  }
}

function onSignal(listener: (name: SignalName) => void): () => void {
  const handlers = signalNames.map((name) => ({ name, handler: () => listener(name) }));
  for (const { name, handler } of handlers) process.on(name, handler);
  return () => {
    for (const { name, handler } of handlers) process.off(name, handler);
  };
}

/** An event loop that becomes empty while a command is pending is a crash too: Node would exit with its own code. */
function onCrash(listener: (error: unknown) => void): () => void {
  const onEmpty = (): void => listener(new Error("the command ended unexpectedly"));
  process.on("uncaughtException", listener);
  process.once("beforeExit", onEmpty);
  return () => {
    process.off("uncaughtException", listener);
    process.off("beforeExit", onEmpty);
  };
}
