import type { Piscina } from "piscina";
import type { Task, TaskOutcome } from "./job.js";

export interface ThreadOptions {
  /** A built file whose default export comes from `serveJobs`; looked up with the first job. */
  readonly entry: URL;
  readonly threads: number;
  /** More than one is for jobs that mostly wait. */
  readonly jobsPerThread: number;
  readonly maxHeapMb: number;
  /** How much garbage a thread gathers before it looks for it; without it, as much as V8 likes. */
  readonly maxYoungHeapMb?: number;
  /** A thread without a job for so long is ended. */
  readonly idleMs: number;
}

export interface OpenPiscina {
  /** Aborting ends the thread the task is in, with everything else in it. */
  run(task: Task, signal: AbortSignal, onPlaced: () => void): Promise<TaskOutcome>;
  /** Resolves when every thread is gone. */
  destroy(): Promise<void>;
}

/** Loads Piscina; `onIdleDeath` is told when a thread dies that has no job, mostly one that could not start. */
export async function openPiscina(options: ThreadOptions, onIdleDeath: (error: unknown) => void): Promise<OpenPiscina> {
  const { Piscina, ...library } = await import("piscina");
  const { entry, threads, jobsPerThread, maxHeapMb, maxYoungHeapMb, idleMs } = options;
  const piscina = new Piscina<object, TaskOutcome>({
    filename: entry.href,
    minThreads: 0,
    maxThreads: threads,
    concurrentTasksPerWorker: jobsPerThread,
    // With `sync` a thread without a job sleeps, and with it every socket and timer that is left in it.
    atomics: jobsPerThread > 1 ? "async" : "sync",
    idleTimeout: idleMs,
    resourceLimits: {
      maxOldGenerationSizeMb: maxHeapMb,
      ...(maxYoungHeapMb !== undefined && { maxYoungGenerationSizeMb: maxYoungHeapMb }),
    },
    // The flags and the environment of the process are not for its threads.
    execArgv: [],
    env: {},
    recordTiming: false,
    loadBalancer: (task, workers) => {
      const free = leastBusy(workers, jobsPerThread);
      const place = task[library.queueOptionsSymbol];
      if (free !== null && isPlace(place)) place.onPlaced();
      return free;
    },
  });
  piscina.on("error", onIdleDeath);
  return {
    run: ({ input, ...task }, signal, onPlaced) => {
      const transferList = [input.buffer as ArrayBuffer, ...(task.cancel === undefined ? [] : [task.cancel])];
      // The place is not sent: a symbol's value only comes to whoever chooses the thread.
      const place: Place = { onPlaced };
      return piscina.run({ ...task, input, [library.queueOptionsSymbol]: place }, { transferList, signal });
    },
    destroy: () => piscina.destroy(),
  };
}

interface Place {
  onPlaced(): void;
}

function isPlace(value: object | null): value is Place {
  return value !== null && "onPlaced" in value;
}

type Balancer = NonNullable<Piscina["options"]["loadBalancer"]>;
type PoolWorker = Parameters<Balancer>[1][number];

/** Piscina's own choice gives a thread no second job while the first can be aborted, and all of ours can be. */
function leastBusy(workers: readonly PoolWorker[], jobsPerThread: number): PoolWorker | null {
  const free = workers.filter((worker) => jobsOf(worker) < jobsPerThread);
  return free.toSorted((a, b) => jobsOf(a) - jobsOf(b))[0] ?? null;
}

/** A single job that can be aborted counts as infinitely many. */
function jobsOf({ currentUsage }: PoolWorker): number {
  return Number.isFinite(currentUsage) ? currentUsage : 1;
}
