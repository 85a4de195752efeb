import { expect, test } from "vitest";
import { within, withinRounds } from "../../../src/base/time/waiting.js";

const never = new Promise<void>(() => {});
const boundMs = 40;

test("says whether the promise was in time, and a signal ends the wait", async () => {
  const controller = new AbortController();
  expect(await withinRounds(Promise.resolve(), 60_000)).toBe(true);
  expect(await withinRounds(never, 20)).toBe(false);
  const waiting = withinRounds(never, 60_000, controller.signal);
  controller.abort();
  expect(await waiting).toBe(false);
});

test("a time in which the event loop had no time for what is waited for is not counted as if it had been slow", async () => {
  expect(await within(workOfABusyLoop(), boundMs)).toBe(false);
  expect(await withinRounds(workOfABusyLoop(), boundMs)).toBe(true);
});

/** Needs the event loop five times, which each time has something else to do for longer than the bound. */
async function workOfABusyLoop(): Promise<void> {
  for (let time = 0; time < 5; time += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const end = performance.now() + 1.5 * boundMs;
    while (performance.now() < end);
  }
}
