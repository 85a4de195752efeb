/**
 * Work whose result many callers want at once. A caller gets a run that starts after it asked, and shares it with every
 * caller that asked before that run started.
 */
export class SharedWork<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  ask(): Promise<T> {
    this.#next ??= this.#startAfter(this.#running);
    return this.#next;
  }

  async #startAfter(running: Promise<unknown>): Promise<T> {
    await running;
    const work = this.#work();
    this.#running = work.catch(() => undefined);
    this.#next = undefined;
    return await work;
  }
}
