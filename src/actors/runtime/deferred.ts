/** A promise that is resolved from outside. */
export class Deferred<T> {
  #settle: ((value: T) => void) | undefined;
  readonly promise = new Promise<T>((resolve) => {
    this.#settle = resolve;
  });

  resolve(value: T): void {
    this.#settle?.(value);
  }
}
