/** Between two parts of the bound, the event loop handles everything that is ready. */
const parts = 20;

/** Waits `ms` milliseconds; resolves to false if the signal aborted the wait. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const onAbort = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve(true);
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Settles like `work`, or resolves to `undefined` as soon as the signal is aborted, however long `work` takes. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    void work.finally(() => signal.removeEventListener("abort", stop)).then(resolve, reject);
  });
}

/**
 * Waits for a promise until the bound has passed or the signal is aborted; resolves to whether it settled in time. A
 * rejection counts as settled. Leaves no listener on the signal.
 */
export function within(promise: Promise<unknown>, boundMs: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (inTime: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      resolve(inTime);
    };
    const giveUp = (): void => settle(false);
    const timer = setTimeout(giveUp, boundMs);
    signal?.addEventListener("abort", giveUp);
    const onEnd = (): void => settle(true);
    promise.then(onEnd, onEnd);
    if (signal?.aborted) giveUp();
  });
}

/**
 * Like `within`, for work that progresses only in this thread's event loop. On a busy loop, timers fire before answers
 * that have already arrived are handled, so that a bound in one piece would report them as late.
 */
export async function withinRounds(promise: Promise<unknown>, boundMs: number, signal?: AbortSignal): Promise<boolean> {
  for (let part = 0; part < parts; part += 1) {
    if (await within(promise, boundMs / parts, signal)) return true;
    if (signal?.aborted === true) break;
  }
  return false;
}

/**
 * Calls back when the time is over, unless the returned function was called before. It waits in two halves, because
 * after the process was suspended for long a timer fires before an answer that arrived meanwhile is read.
 */
export function startDeadline(ms: number, onLate: () => void, options: { readonly unref: boolean }): () => void {
  const wait = (callback: () => void): NodeJS.Timeout => {
    const started = setTimeout(callback, ms / 2);
    return options.unref ? started.unref() : started;
  };
  let timer = wait(() => {
    timer = wait(onLate);
  });
  return () => clearTimeout(timer);
}

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
