import type { JobOutcome, Task } from "./job.js";
import { openPiscina, type OpenPiscina, type ThreadOptions } from "./open-piscina.js";
import { unpack } from "./pack.js";

const closeBoundMs = 5_000;

/** The threads of a pool. Nothing is loaded and no thread is started before the first job. */
export class PoolThreads {
  readonly #options: ThreadOptions;
  /** Jobs that wait for a thread to start. */
  readonly #starting = new Set<AbortController>();
  #piscina: Promise<OpenPiscina> | undefined;
  #isClosed = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /**
   * Runs a job in a thread that has room; the caller sees to it that there is one. Aborting ends the thread with
   * everything in it. Rejects when the thread has ended, or could not be started.
   */
  async run(task: Task, end: AbortController): Promise<JobOutcome<unknown>> {
    // A job whose thread cannot start would wait for ever.
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

  /** Ends the threads; resolves when they are gone, or when they have not gone for long. */
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
