import { pbkdf2 } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** CPU time in milliseconds. `libuv` is its pool, which writes files; `v8` collects garbage and compiles. */
export interface ThreadCpu {
  readonly main: number;
  readonly shards: readonly number[];
  readonly writer: number;
  readonly libuv: number;
  readonly v8: number;
}

const tasks = "/proc/self/task";
const nanosecondsPerMs = 1e6;
const libuvThreads = 4;
/** Some 50 ms of work, so that every thread of the pool gets a job. */
const jobIterations = 50_000;
const minJobMs = 5;
const derive = promisify(pbkdf2);

/**
 * Tells the threads of this process apart; Node 20 gives them no names. Created before the manager, which must have
 * started its threads when CPU times are read.
 */
export class ThreadClock {
  readonly #v8: readonly string[];
  readonly #libuv: readonly string[];

  private constructor(v8: readonly string[], libuv: readonly string[]) {
    this.#v8 = v8;
    this.#libuv = libuv;
  }

  static async start(): Promise<ThreadClock> {
    if (process.platform !== "linux") throw new Error("CPU times of threads are only known on Linux");
    const libuv = await poolThreads();
    const others = readdirSync(tasks).filter((id) => !libuv.includes(id) && id !== String(process.pid));
    return new ThreadClock(others, libuv);
  }

  /** Calls a function and returns the CPU time that each thread used meanwhile. `directory` has a file for each shard. */
  async measure(directory: string, work: () => Promise<void>): Promise<ThreadCpu> {
    const before = cpuTimes();
    await work();
    const used = new Map([...cpuTimes()].map(([id, time]) => [id, time - (before.get(id) ?? 0)]));
    const of = (ids: readonly string[]): number => ids.reduce((sum, id) => sum + (used.get(id) ?? 0), 0);
    const main = String(process.pid);
    const shards = readdirSync(directory).filter((id) => id !== main);
    const known = new Set([main, ...shards, ...this.#libuv, ...this.#v8]);
    return {
      main: of([main]),
      shards: shards.map((id) => of([id])),
      writer: of([...used.keys()].filter((id) => !known.has(id))),
      libuv: of(this.#libuv),
      v8: of(this.#v8),
    };
  }
}

/** The name of the file by which a shard makes itself known, as its thread's number in the process. */
export function ownTask(): string {
  return readFileSync("/proc/thread-self/stat", "utf8").split(" ")[0] ?? "";
}

/** Finds the threads of libuv's pool by the CPU time that they use for its jobs. */
async function poolThreads(): Promise<string[]> {
  const found = new Set<string>();
  while (found.size < libuvThreads) {
    const before = cpuTimes();
    await Promise.all(
      Array.from({ length: libuvThreads }, () => derive("password", "salt", jobIterations, 64, "sha512")),
    );
    for (const [id, time] of cpuTimes()) if (time - (before.get(id) ?? 0) >= minJobMs) found.add(id);
    found.delete(String(process.pid));
  }
  return [...found];
}

function cpuTimes(): Map<string, number> {
  return new Map(
    readdirSync(tasks).map((id) => {
      const [time] = readFileSync(join(tasks, id, "schedstat"), "utf8").split(" ");
      return [id, Number(time) / nanosecondsPerMs];
    }),
  );
}
