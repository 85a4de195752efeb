import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { CommandProcess } from "../../../tools/exec/command-process.js";
import { failureText } from "../../../tools/failure-words.js";
import { withGuard, guardDescriptor } from "../../../tools/exec/guarded.js";
import { killSurvivors } from "../../../tools/exec/survivors.js";
import { within } from "../../../base/time/waiting.js";

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Time limits for exiting on its own, and then after SIGTERM and SIGKILL. */
const leaveMs = 500;
const orderMs = 1_000;
const killMs = 2_000;

/**
 * A server's process, with a guard that kills all its descendants when our process ends, however that happens. It does
 * not keep our process alive by itself; a caller waiting for an answer does.
 */
export class ServerProcess {
  readonly stdin: Writable;
  readonly #process: CommandProcess;
  readonly #marker: string;
  #ending: Promise<void> | undefined;

  private constructor(stdin: Writable, process: CommandProcess, marker: string) {
    this.stdin = stdin;
    this.#process = process;
    this.#marker = marker;
  }

  static async start({ command, args, cwd, env }: ServerCommand): Promise<ServerProcess> {
    const marker = randomUUID();
    const { file, args: all } = withGuard([command, ...args], marker);
    const child = spawn(file, all, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
    const failure = new Promise<unknown>((resolve) => child.on("error", resolve));
    if (child.pid === undefined) throw new Error(`cannot start in ${cwd}: ${failureText(await failure)}`);
    // Write errors are ignored: the exit of the process is detected elsewhere.
    child.stdin.on("error", () => undefined);
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr, child.stdio[guardDescriptor]]) {
      (pipe as Socket).unref();
    }
    return new ServerProcess(child.stdin, new CommandProcess(child, child.pid, [child.stdout, child.stderr]), marker);
  }

  get stdout(): Readable {
    return this.#process.stdout;
  }

  get stderr(): Readable {
    return this.#process.stderr;
  }

  get exited(): Promise<number> {
    return this.#process.exited;
  }

  /** Resolves when none of its processes is alive; later calls wait for the first. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const process = this.#process;
    // By the protocol, closing stdin asks the server to exit.
    this.stdin.end();
    if (!(await within(process.exited, leaveMs))) {
      process.signalGroup("SIGTERM");
      await within(process.exited, orderMs);
    }
    process.signalGroup("SIGKILL");
    await within(process.exited, killMs);
    await killSurvivors(this.#marker, process.pid);
    this.stdin.destroy();
    process[Symbol.dispose]();
  }
}
