import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Report } from "./report.js";

interface Waiter {
  readonly matches: (report: Report) => boolean;
  readonly resolve: (report: Report) => void;
  readonly reject: (error: Error) => void;
}

/** A built program of `test/support/children` in its own process, which is killed when its test ends. */
export class Child {
  readonly reports: Report[] = [];
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<void>;
  #waiters: Waiter[] = [];
  #rest = "";
  #complaints = "";
  #hasEnded = false;

  constructor(name: string, order: object) {
    const file = fileURLToPath(new URL(`../../build/test-children/dist/${name}.js`, import.meta.url));
    this.#process = spawn(process.execPath, [file, JSON.stringify(order)], { stdio: ["pipe", "pipe", "pipe"] });
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => (this.#complaints += text));
    // Writing to a child that is being killed fails; ignore that.
    this.#process.stdin.on("error", () => {});
    this.#ended = new Promise((resolve) => {
      this.#process.once("close", () => {
        this.#end();
        resolve();
      });
    });
    onTestFinished(() => this.kill());
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Resolves when the child has exited for any reason. */
  get gone(): Promise<void> {
    return this.#ended;
  }

  say(word: object | number): void {
    this.#process.stdin.write(`${JSON.stringify(word)}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Closes stdin, so that the child exits by itself. */
  async end(): Promise<void> {
    this.#process.stdin.end();
    await this.#ended;
  }

  /** Kills the child; resolves when it has exited and all of its output is in `reports`. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  /** The first report from index `from` on that matches, past or future. Rejects when the child exits first. */
  until(matches: (report: Report) => boolean, from = 0): Promise<Report> {
    const heard = this.reports.slice(from).find(matches);
    if (heard !== undefined) return Promise.resolve(heard);
    if (this.#hasEnded) return Promise.reject(this.#endedEarly());
    return new Promise((resolve, reject) => {
      this.#waiters.push({ matches, resolve, reject });
    });
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split("\n");
    // The last line is incomplete so far; a killed child never completes it.
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#add(JSON.parse(line) as Report);
  }

  #add(report: Report): void {
    this.reports.push(report);
    const matching = this.#waiters.filter(({ matches }) => matches(report));
    this.#waiters = this.#waiters.filter((waiter) => !matching.includes(waiter));
    for (const { resolve } of matching) resolve(report);
  }

  #end(): void {
    this.#hasEnded = true;
    for (const { reject } of this.#waiters.splice(0)) reject(this.#endedEarly());
  }

  #endedEarly(): Error {
    const last = JSON.stringify(this.reports.slice(-3));
    return new Error(`child ${this.pid} ended too early, after ${last}: ${this.#complaints}`);
  }
}
