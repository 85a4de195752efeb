import type { Piscina } from "piscina";
import type { Task, TaskOutcome } from "./job.js";

export interface ThreadOptions {
  /** A built file whose default export comes from `serveJobs`; resolved with the first job. */
  readonly entry: URL;
  readonly threads: number;
  /** Use more than one only for jobs that mostly wait. */
  readonly jobsPerThread: number;
  readonly maxHeapMb: number;
  /** The size of a thread's young generation; V8's default if absent. */
  readonly maxYoungHeapMb?: number;
  /** A thread without a job for this long is ended. */
  readonly idleMs: number;
}

export interface OpenPiscina {
  /** Aborting ends the thread that runs the task, with everything else in it. */
  run(task: Task, signal: AbortSignal, onPlaced: () => void): Promise<TaskOutcome>;
  /** Resolves when every thread has ended. */
  destroy(): Promise<void>;
}

/** Loads Piscina. Calls `onIdleDeath` when a thread without a job dies, mostly one that could not start. */
export async function openPiscina(options: ThreadOptions, onIdleDeath: (error: unknown) => void): Promise<OpenPiscina> {
  const { Piscina, ...library } = await import("piscina");
  const { entry, threads, jobsPerThread, maxHeapMb, maxYoungHeapMb, idleMs } = options;
  const piscina = new Piscina<object, TaskOutcome>({
    filename: entry.href,
    minThreads: 0,
    maxThreads: threads,
    concurrentTasksPerWorker: jobsPerThread,
    // With `sync`, a thread without a job blocks, and with it every socket and timer in the thread.
    atomics: jobsPerThread > 1 ? "async" : "sync",
    idleTimeout: idleMs,
    resourceLimits: {
      maxOldGenerationSizeMb: maxHeapMb,
      ...(maxYoungHeapMb !== undefined && { maxYoungGenerationSizeMb: maxYoungHeapMb }),
    },
    // Threads do not inherit the flags and the environment of the process.
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
      // `place` is not sent to the thread: the value under this symbol is only passed to the load balancer.
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

/** Piscina's default balancer gives a thread no second job while the first can be aborted, and all of ours can be. */
function leastBusy(workers: readonly PoolWorker[], jobsPerThread: number): PoolWorker | null {
  const free = workers.filter((worker) => jobsOf(worker) < jobsPerThread);
  return free.toSorted((a, b) => jobsOf(a) - jobsOf(b))[0] ?? null;
}

/** Piscina reports infinite usage for a thread with an abortable job. */
function jobsOf({ currentUsage }: PoolWorker): number {
  return Number.isFinite(currentUsage) ? currentUsage : 1;
}
