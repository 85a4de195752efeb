import type { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { Deferred } from "../../src/base/time/waiting.js";

/** The heap of shards in tests, by which their threads are told from others. */
export const shardHeapMb = 128;

interface StartedShard {
  readonly worker: Worker;
  readonly threadId: number;
}

/** The threads of shards that this process starts until the test has finished. */
export class ShardWorkers {
  /** Shards that have not ended, in the order of their start. */
  readonly living = new Set<StartedShard>();
  /** The ids of the threads that have ended. */
  readonly ended = new Set<number>();
  #nextEnd = new Deferred<void>();
  readonly #onStarted: (worker: Worker) => void;

  constructor(onStarted: (worker: Worker) => void = () => undefined) {
    this.#onStarted = onStarted;
    const add = (worker: Worker): void => this.#add(worker);
    process.on("worker", add);
    onTestFinished(() => void process.off("worker", add));
  }

  #add(worker: Worker): void {
    if (worker.resourceLimits?.maxOldGenerationSizeMb !== shardHeapMb) return;
    const started = { worker, threadId: worker.threadId };
    this.living.add(started);
    // The event precedes the one by which the manager notices the end.
    worker.prependListener("exit", () => {
      this.living.delete(started);
      this.ended.add(started.threadId);
      this.wake();
    });
    this.#onStarted(worker);
  }

  /** Resolves when the next thread has ended. */
  get nextEnd(): Promise<void> {
    return this.#nextEnd.promise;
  }

  /** Resolves what waits for the end of a thread, because none may follow. */
  wake(): void {
    this.#nextEnd.resolve();
    this.#nextEnd = new Deferred<void>();
  }

  /** Ends all threads, as they are now. */
  async terminate(): Promise<void> {
    await Promise.all([...this.living].map(({ worker }) => worker.terminate()));
  }
}
