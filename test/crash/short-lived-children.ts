import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import type { Report } from "./report.js";

/** When to kill: `delay` rounds of this process's event loop after `reports` reports. */
export interface KillMoment {
  readonly reports: number;
  readonly delay: number;
}

/** Starts short-lived processes; those still alive when the test ends are killed. */
export class ShortLivedChildren {
  readonly #program: string;
  readonly #alive = new Set<() => void>();

  constructor(program: string) {
    this.#program = program;
    onTestFinished(() => {
      for (const kill of this.#alive) kill();
    });
  }

  /** Starts a process and kills it. Resolves with its reports; rejects when the process exits by itself. */
  kill(order: object, { reports, delay }: KillMoment): Promise<Report[]> {
    return new Promise((resolve, reject) => {
      // An empty environment, because reading Node's variables slows the start.
      const child = spawn(process.execPath, [this.#program, JSON.stringify(order)], { stdio: "pipe", env: {} });
      const kill = (): void => void child.kill("SIGKILL");
      this.#alive.add(kill);
      let said = "";
      let count = 0;
      let complaints = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        count += text.split("\n").length - 1;
        if (count >= reports) later(delay, kill);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
      child.once("error", reject);
      child.once("close", (code, signal) => {
        this.#alive.delete(kill);
        if (signal !== "SIGKILL") return reject(new Error(`a child ended with ${code ?? signal}: ${complaints}`));
        // The last line may be incomplete.
        const lines = said.split("\n").slice(0, -1);
        resolve(lines.map((line) => JSON.parse(line) as Report));
      });
    });
  }
}

function later(delay: number, act: () => void): void {
  if (delay === 0) act();
  else setImmediate(() => later(delay - 1, act));
}
