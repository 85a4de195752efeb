import { within } from "./within.js";

/** Between two parts of the bound everything that is ready has its turn. */
const parts = 20;

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
