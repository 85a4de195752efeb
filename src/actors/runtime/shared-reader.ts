import type { EventReader, Waiter } from "./event-reader.js";

/** Shares one reader among successive loops. It is lossless until a lossless loop ends. */
export function sharedReader<E extends { readonly seq: number }>(
  own: EventReader<E>,
  lossless: boolean,
): AsyncIterableIterator<E> {
  if (lossless) own.setLossless(true);
  let last: Waiter<E> | undefined;
  const onWait = (waiter: Waiter<E>): void => void (last = waiter);
  return {
    next: () => own.next(onWait),
    return: () => {
      // The rest may never be read, and a turn must not wait for that.
      if (lossless) own.setLossless(false);
      if (last !== undefined) own.withdraw(last);
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
