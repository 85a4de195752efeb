import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Runs a test program in a child process and exchanges JSON lines with it. */
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

  send(message: unknown): void {
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async receive(): Promise<unknown> {
    const next = await this.#lines.next();
    if (next.done === true) throw new Error("the child ended without a word");
    return JSON.parse(next.value);
  }

  async ask(message: unknown): Promise<unknown> {
    this.send(message);
    return await this.receive();
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#process.kill(signal);
    await this.exited;
  }

  /** Closes the child's stdin. */
  end(): void {
    this.#process.stdin.end();
  }

  stop(): void {
    this.#process.kill("SIGSTOP");
  }
}
