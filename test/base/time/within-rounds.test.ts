import { expect, test } from "vitest";
import { within, withinRounds } from "../../../src/base/time/waiting.js";

const pending = new Promise<void>(() => {});
const boundMs = 40;

test("withinRounds says whether the promise settled in time, and an abort ends the wait", async () => {
  const controller = new AbortController();
  expect(await withinRounds(Promise.resolve(), 60_000)).toBe(true);
  expect(await withinRounds(pending, 20)).toBe(false);
  const waiting = withinRounds(pending, 60_000, controller.signal);
  controller.abort();
  expect(await waiting).toBe(false);
});

test("withinRounds does not count time in which the event loop was blocked", async () => {
  expect(await within(workOnBusyLoop(), boundMs)).toBe(false);
  expect(await withinRounds(workOnBusyLoop(), boundMs)).toBe(true);
});

/** Needs five rounds of the event loop, each of which is blocked for longer than the bound. */
async function workOnBusyLoop(): Promise<void> {
  for (let time = 0; time < 5; time += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const end = performance.now() + 1.5 * boundMs;
    while (performance.now() < end);
  }
}
