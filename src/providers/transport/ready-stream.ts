/**
 * A stream whose events can be read without a promise for each: with a thousand small events a second, the promises
 * would cost more than the events. A reader either awaits `next`, or calls `take` and then `onReady`.
 */
export abstract class ReadyStream<E> implements AsyncIterableIterator<E, undefined> {
  /** The next event if it is available, null after the last one. Throws once where `next` would reject. */
  abstract take(): E | null | undefined;

  /** Called after `take` returned undefined: calls back once, when `take` may return something. */
  abstract onReady(callback: () => void): void;

  abstract return(): Promise<IteratorResult<E, undefined>>;

  next(): Promise<IteratorResult<E, undefined>> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        try {
          const value = this.take();
          if (value === undefined) this.onReady(look);
          else resolve(value === null ? endOfStream : { done: false, value });
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

export const endOfStream: IteratorResult<never, undefined> = { done: true, value: undefined };
