import type { EventReader, Waiter } from "./event-reader.js";

/** A place in the queue that outlives the loops that read from it. */
export function sharedReader<E extends { readonly seq: number }>(own: EventReader<E>): AsyncIterableIterator<E> {
  let last: Waiter<E> | undefined;
  const onWait = (waiter: Waiter<E>): void => void (last = waiter);
  return {
    next: () => own.next(onWait),
    return: () => {
      if (last !== undefined) own.withdraw(last);
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
