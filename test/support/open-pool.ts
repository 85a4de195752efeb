import { randomUUID } from "node:crypto";
import { BroadcastChannel } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { Pool, type PoolOptions } from "../../src/workers/pool.js";
import type { FaultyJobs } from "./faulty-jobs.js";
import { poolOptions } from "./pool-options.js";
import { testThread } from "./test-thread.js";

/** A pool of faulty jobs that is closed when the test ends. */
export function openPool(options: Partial<PoolOptions<FaultyJobs>> = {}): Pool<FaultyJobs> {
  const pool = new Pool<FaultyJobs>({ ...poolOptions, entry: testThread("faulty-jobs"), ...options });
  onTestFinished(() => pool.close());
  return pool;
}

/** Counts the starts of jobs that use its channel, and can tell them to continue. */
export class JobChannel {
  readonly channel = randomUUID();
  readonly #channel = new BroadcastChannel(this.channel);
  #rung = 0;
  #wake: () => void = () => undefined;

  constructor() {
    this.#channel.addEventListener("message", () => {
      this.#rung += 1;
      this.#wake();
    });
    onTestFinished(() => this.#channel.close());
  }

  /** Resolves when this many jobs have started. */
  async began(count = 1): Promise<void> {
    while (this.#rung < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  release(): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads there is no origin
    this.#channel.postMessage("go on");
  }
}
