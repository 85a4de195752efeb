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
