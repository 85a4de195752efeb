/** Settles like `work`, or resolves to `undefined` as soon as the signal is aborted, however long `work` takes. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    void work.finally(() => signal.removeEventListener("abort", stop)).then(resolve, reject);
  });
}
