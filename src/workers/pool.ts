import { MessageChannel } from "node:worker_threads";
import type { Piscina } from "piscina";
import { FailureError } from "../messages/failure-error.js";
import type { Failure } from "../messages/failure.js";
import { threadArguments, threadDeath } from "./same-build.js";
import { jobFailed, type JobOutcome, type JobTable, type Task, type TaskOutcome, pack, unpack } from "./jobs.js";

const closeBoundMs = 5_000;

const closedReason = "the pool is closed";

export interface PoolOptions<Jobs extends JobTable> extends ThreadOptions {
  /** The time limit of each job, counted from when it gets a thread. */
  readonly deadlineMs: Readonly<Record<keyof Jobs, number>>;
  /** How long a cancelled job may take to end by itself; if absent, its thread is ended at once. */
  readonly graceMs?: number;
  /** The maximum number of jobs without a thread; further ones are refused. */
  readonly maxWaiting: number;
  readonly maxJobBytes: number;
  /**
   * The maximum input size of all unfinished jobs. The memory limit of a thread does not include buffers, so the pool
   * counts them.
   */
  readonly maxBytes: number;
}

interface RunOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/**
 * Runs jobs in threads. If a job or its thread fails, that is the job's outcome, and the pool continues. The pool has
 * its own queue: Piscina's has no bound for abortable jobs, and loses them when the last thread dies.
 */
export class Pool<Jobs extends JobTable> {
  readonly #options: PoolOptions<Jobs>;
  readonly #threads: PoolThreads;
  readonly #waiting = new Set<JobCall>();
  readonly #running = new Set<JobCall>();
  #bytes = 0;
  #isPreparing = false;
  #closed: Promise<void> | undefined;

  constructor(options: PoolOptions<Jobs>) {
    this.#options = options;
    this.#threads = new PoolThreads(options);
  }

  /** The number of jobs without a thread. */
  get waiting(): number {
    return this.#waiting.size;
  }

  async run<Name extends keyof Jobs & string>(
    job: Name,
    input: Jobs[Name]["input"],
    { signal, deadlineMs = this.#options.deadlineMs[job] }: RunOptions = {},
  ): Promise<JobOutcome<Jobs[Name]["output"]>> {
    const refusal = this.#refusal(job, signal);
    if (refusal !== undefined) return refusal;
    const packed = packedOrFailure(job, input);
    if (!packed.ok) return packed;
    const call = new JobCall(job, packed.value, deadlineMs);
    const tooLarge = this.#tooLarge(call);
    if (tooLarge !== undefined) return tooLarge;
    const abort = (): void => call.cancel("aborted", "aborted");
    signal?.addEventListener("abort", abort);
    try {
      this.#add(call);
      return await call.outcome;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /**
   * Starts a thread ahead of time and runs a job in it that loads what later jobs need. They wait for it, because they
   * would start another thread that has to load the same. Does nothing while jobs are running.
   */
  async prepare<Name extends keyof Jobs & string>(job: Name, input: Jobs[Name]["input"]): Promise<void> {
    if (this.#running.size > 0) return;
    const prepared = this.run(job, input);
    this.#isPreparing = true;
    await prepared;
    this.#isPreparing = false;
    this.#startNext();
  }

  /** Cancels all jobs and ends the threads; afterwards every job is refused. */
  close(): Promise<void> {
    this.#closed ??= this.#threads.close();
    for (const call of [...this.#waiting, ...this.#running]) call.cancel("aborted", closedReason);
    return this.#closed;
  }

  #refusal(job: string, signal: AbortSignal | undefined): JobOutcome<never> | undefined {
    if (this.#closed !== undefined) return jobFailed("aborted", `${job}: ${closedReason}`);
    if (signal?.aborted === true) return jobFailed("aborted", `${job}: aborted`);
    if (this.#hasRoom || this.#waiting.size < this.#options.maxWaiting) return undefined;
    return jobFailed("busy", `${job}: too many waiting jobs (${this.#waiting.size})`, true);
  }

  #tooLarge({ job, bytes }: JobCall): JobOutcome<never> | undefined {
    const { maxJobBytes, maxBytes } = this.#options;
    if (bytes > maxJobBytes) return jobFailed("bad_message", `${job}: ${bytes} bytes are more than ${maxJobBytes}`);
    if (this.#bytes + bytes <= maxBytes) return undefined;
    return jobFailed("busy", `${job}: the waiting and running jobs already hold ${this.#bytes} bytes`, true);
  }

  #add(call: JobCall): void {
    this.#bytes += call.bytes;
    this.#waiting.add(call);
    call.onCancel = () => {
      this.#waiting.delete(call);
      this.#bytes -= call.bytes;
    };
    this.#startNext();
  }

  #startNext(): void {
    for (const call of this.#waiting) {
      if (!this.#hasRoom) return;
      this.#waiting.delete(call);
      void this.#start(call);
    }
  }

  async #start(call: JobCall): Promise<void> {
    this.#running.add(call);
    await runJob(call, this.#threads, this.#options.graceMs);
    this.#running.delete(call);
    this.#bytes -= call.bytes;
    this.#startNext();
  }

  get #hasRoom(): boolean {
    return !this.#isPreparing && this.#running.size < this.#options.threads * this.#options.jobsPerThread;
  }
}

function packedOrFailure(job: string, input: unknown): JobOutcome<Uint8Array> {
  try {
    return { ok: true, value: pack(input) };
  } catch (error) {
    return threadFailure(job, error);
  }
}

/**
 * Runs a job in a thread; resolves when the thread is done with it. A cancelled job has `graceMs` to end by itself;
 * then, or at once without a grace period, its thread is ended.
 */
async function runJob(call: JobCall, threads: PoolThreads, graceMs: number | undefined): Promise<void> {
  const end = new AbortController();
  const cancelling = graceMs === undefined ? undefined : new MessageChannel();
  let grace: NodeJS.Timeout | undefined;
  call.onCancel = () => {
    if (cancelling === undefined) return end.abort();
    cancelling.port1.postMessage("cancel");
    grace = setTimeout(() => end.abort(), graceMs);
  };
  const forgetDeadline = startDeadline(call);
  try {
    const { job, input } = call;
    call.settle(await threads.run({ job, input, ...(cancelling && { cancel: cancelling.port2 }) }, end));
  } catch (error) {
    call.settle(threadFailure(call.job, error));
  } finally {
    forgetDeadline();
    clearTimeout(grace);
    cancelling?.port1.close();
  }
}

function startDeadline(call: JobCall): () => void {
  const late = (): void => call.cancel("deadline", `took longer than ${call.deadlineMs} ms`);
  // After the process was suspended, a timer fires before an outcome that has arrived meanwhile is read.
  const timer = setTimeout(() => setImmediate(late), call.deadlineMs);
  return () => clearTimeout(timer);
}

/** A job from its call to its outcome; the first outcome wins. */
class JobCall {
  readonly job: string;
  readonly input: Uint8Array;
  readonly bytes: number;
  readonly deadlineMs: number;
  readonly outcome: Promise<JobOutcome<unknown>>;
  #resolve: ((outcome: JobOutcome<unknown>) => void) | undefined;
  /** Called when the job is cancelled. */
  onCancel: () => void = () => undefined;

  constructor(job: string, input: Uint8Array, deadlineMs: number) {
    this.job = job;
    this.input = input;
    // Stored separately, because the input's buffer is transferred to the thread.
    this.bytes = input.byteLength;
    this.deadlineMs = deadlineMs;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  settle(outcome: JobOutcome<unknown>): void {
    this.#resolve?.(outcome);
    this.#resolve = undefined;
  }

  cancel(code: Failure["code"], reason: string): void {
    if (this.#resolve === undefined) return;
    this.settle(jobFailed(code, `${this.job}: ${reason}`));
    this.onCancel();
  }
}

/** The outcome of a job whose thread failed, from the thread's error. */
function threadFailure(job: string, error: unknown): JobOutcome<never> {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  if (isOutOfMemory(error)) {
    // Not retryable: the same job would exhaust the next thread as well.
    return jobFailed("thread_died", `${job}: the thread ran out of memory`);
  }
  return jobFailed("thread_died", `${job}: ${threadDeath(error)}`, true);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** The threads of a pool. Nothing is loaded and no thread is started before the first job. */
class PoolThreads {
  readonly #options: ThreadOptions;
  /** Jobs that wait for a thread to start. */
  readonly #starting = new Set<AbortController>();
  #piscina: Promise<OpenPiscina> | undefined;
  #isClosed = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /**
   * Runs a job in a free thread; the caller makes sure that there is one. Aborting ends the thread with everything in
   * it. Rejects if the thread has ended, or could not be started.
   */
  async run(task: Task, end: AbortController): Promise<JobOutcome<unknown>> {
    // A job whose thread cannot start would otherwise wait forever.
    this.#piscina ??= openPiscina(this.#options, (error) => this.#starting.forEach((waiting) => waiting.abort(error)));
    const piscina = await this.#piscina;
    if (this.#isClosed) throw new Error("the pool is closed");
    this.#starting.add(end);
    try {
      const outcome = await piscina.run(task, end.signal, () => this.#starting.delete(end));
      return outcome.ok ? { ok: true, value: unpack(outcome.value) } : outcome;
    } finally {
      this.#starting.delete(end);
    }
  }

  /** Ends the threads; resolves when they have ended, or after `closeBoundMs`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const piscina = await this.#piscina?.catch(() => undefined);
    if (piscina === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise((resolve) => {
      timer = setTimeout(resolve, closeBoundMs);
    });
    await Promise.race([piscina.destroy(), bound]);
    clearTimeout(timer);
  }
}

interface ThreadOptions {
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

interface OpenPiscina {
  /** Aborting ends the thread that runs the task, with everything else in it. */
  run(task: Task, signal: AbortSignal, onPlaced: () => void): Promise<TaskOutcome>;
  /** Resolves when every thread has ended. */
  destroy(): Promise<void>;
}

/** Loads Piscina. Calls `onIdleDeath` when a thread without a job dies, mostly one that could not start. */
async function openPiscina(options: ThreadOptions, onIdleDeath: (error: unknown) => void): Promise<OpenPiscina> {
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
    argv: [...threadArguments],
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
