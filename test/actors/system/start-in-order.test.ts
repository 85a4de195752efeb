import { expect, test } from "vitest";
import { startInOrder } from "../../../src/actors/system/start-in-order.js";

test("each starts when the one before has gone as far as it can", async () => {
  const steps: string[] = [];
  const begin = async (name: string): Promise<void> => {
    await startInOrder();
    steps.push(`${name} starts`);
    for (let awaited = 0; awaited < 20; awaited += 1) await Promise.resolve();
    steps.push(`${name} waits`);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await Promise.all(["a", "b", "c"].map(begin));
  expect(steps).toEqual(["a starts", "a waits", "b starts", "b waits", "c starts", "c waits"]);
});

test("the event loop goes on between starts that take long", async () => {
  let isOver = false;
  let rounds = 0;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    Array.from({ length: 60 }, async () => {
      await startInOrder();
      busyFor(1);
    }),
  );
  isOver = true;
  expect(rounds).toBeGreaterThan(1);
});

test("who comes when all have started does not wait for the event loop", async () => {
  await startInOrder();
  let hasRun = false;
  setImmediate(() => (hasRun = true));
  await startInOrder();
  expect(hasRun).toBe(false);
});

function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
