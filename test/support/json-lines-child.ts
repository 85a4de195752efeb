import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** A program of this directory in a process of its own; it says and hears JSON lines. */
export class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly exited: Promise<number | null>;

  constructor(file: string, args: readonly string[]) {
    this.#process = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    this.exited = new Promise((resolve) => {
      this.#process.once("exit", resolve);
    });
  }

  say(message: unknown): void {
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async hear(): Promise<unknown> {
    const next = await this.#lines.next();
    if (next.done === true) throw new Error("the child ended without a word");
    return JSON.parse(next.value);
  }

  async ask(message: unknown): Promise<unknown> {
    this.say(message);
    return await this.hear();
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#process.kill(signal);
    await this.exited;
  }

  /** Nothing more will be said to it. */
  end(): void {
    this.#process.stdin.end();
  }

  stop(): void {
    this.#process.kill("SIGSTOP");
  }
}
