/**
 * A stream whose events can also be had without a promise for each: of a thousand small events a second, the promises
 * would cost more than the events. Whoever reads it waits with `next`, or takes what is there and asks to be called.
 */
export abstract class ReadyStream<E> implements AsyncIterableIterator<E, undefined> {
  /** The next event if it is here already, null behind the last. Throws once where `next` would reject. */
  abstract take(): E | null | undefined;

  /** Asked when `take` had nothing: calls back once, when it may have something. */
  abstract onReady(callback: () => void): void;

  abstract return(): Promise<IteratorResult<E, undefined>>;

  next(): Promise<IteratorResult<E, undefined>> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        try {
          const value = this.take();
          if (value === undefined) this.onReady(look);
          else resolve(value === null ? ended : { done: false, value });
        } catch (error) {
          reject(error);
        }
      };
      look();
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

export const ended: IteratorResult<never, undefined> = { done: true, value: undefined };
