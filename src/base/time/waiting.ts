/** Between two parts of a bound, everything that is ready gets its turn. */
const parts = 20;

/** Waits; false when the signal ended the wait. */
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
 * Waits for a promise, but no longer than the bound or until the signal is aborted; says whether it was in time. A
 * rejection is an end too. Nothing stays behind on a signal that lives longer.
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
 * The same as `within`, for what only goes on in the event loop of this thread. Where that is busy, its timers are due
 * before the answers that have long been there are looked at: a bound in one piece would take that for slowness.
 */
export async function withinRounds(promise: Promise<unknown>, boundMs: number, signal?: AbortSignal): Promise<boolean> {
  for (let part = 0; part < parts; part += 1) {
    if (await within(promise, boundMs / parts, signal)) return true;
    if (signal?.aborted === true) break;
  }
  return false;
}
