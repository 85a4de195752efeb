import { setTimeout as sleep } from "node:timers/promises";

/** So long one server is worked for, then it is everybody else's turn, for as long again. */
const sliceMs = 10;
const maxPauseMs = 1_000;

/** Does one after another. What counts is the time they take, not how many bytes they came in. */
export async function paced(work: readonly (() => void)[], now = () => performance.now()): Promise<void> {
  let began = now();
  for (const each of work) {
    each();
    // What comes of it in promises is part of the work.
    await Promise.resolve();
    const spent = now() - began;
    if (spent < sliceMs) continue;
    await sleep(Math.min(spent, maxPauseMs), undefined, { ref: false });
    began = now();
  }
}
