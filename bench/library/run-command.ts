import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = /^file:\/\/(.*)\/build\//.exec(import.meta.url)?.[1] ?? ".";

const cody = join(root, "dist/cli/main.cjs");

/** The resources a process used, as it reports itself on exit. */
export interface Usage {
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** Runs the built command line with the given home and without the rest of this shell's environment. */
export class Commands {
  readonly #folder: string;
  readonly #home: string;
  readonly #preload: string;
  readonly #usage: string;

  constructor(folder: string, home: string) {
    this.#folder = folder;
    this.#home = home;
    this.#usage = join(folder, "usage.json");
    this.#preload = join(folder, "usage.cjs");
    const usageJson = `JSON.stringify(process.resourceUsage())`;
    writeFileSync(
      this.#preload,
      `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(this.#usage)}, ${usageJson}));`,
    );
  }

  /** The duration in milliseconds; throws if the command fails or prints something else. */
  time(args: readonly string[], expected: string): number {
    const begin = performance.now();
    this.#run([], args, expected);
    return performance.now() - begin;
  }

  usage(args: readonly string[], expected: string): Usage {
    this.#run(["-r", this.#preload], args, expected);
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(
      readFileSync(this.#usage, "utf8"),
    ) as NodeJS.ResourceUsage;
    return { cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 };
  }

  #run(flags: readonly string[], args: readonly string[], expected: string): void {
    const { PATH } = process.env;
    const env = { PATH, HOME: this.#folder, CODY_HOME: this.#home };
    const options = { cwd: this.#folder, env, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, cody, ...args], options);
    if (status === 0 && stdout.includes(expected)) return;
    throw new Error(`${args.join(" ")}: ${status}: ${stdout.slice(-500)}${stderr}`);
  }
}
