import { messageOf } from "./failures.js";

/** Wraps a listener so that its errors cannot reach the caller; the first error is reported as a warning. */
export function isolateListener<T>(owner: string, listener: ((value: T) => unknown) | undefined): (value: T) => void {
  let warned = false;
  const warn = (error: unknown): void => {
    if (warned) return;
    warned = true;
    process.emitWarning(`${owner}: a listener threw: ${messageOf(error)}`);
  };
  return (value) => {
    try {
      const result = listener?.(value);
      if (result instanceof Promise) result.catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}
