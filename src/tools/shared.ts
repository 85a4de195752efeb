/** Work that is done once for everybody who asks for it at the same time. What was begun before one asked is too old. */
export class Shared<Value> {
  readonly #work: () => Promise<Value>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Value> | undefined;

  /** The work never rejects. */
  constructor(work: () => Promise<Value>) {
    this.#work = work;
  }

  run(): Promise<Value> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  async #after(running: Promise<unknown>): Promise<Value> {
    await running;
    const work = this.#work();
    this.#running = work;
    this.#next = undefined;
    return await work;
  }
}
