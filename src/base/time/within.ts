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
