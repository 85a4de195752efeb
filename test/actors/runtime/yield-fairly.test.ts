import { expect, test } from "vitest";
import { yieldFairly } from "../../../src/actors/runtime/scheduler.js";

test("each task starts when the one before it waits for something else", async () => {
  const steps: string[] = [];
  const begin = async (name: string): Promise<void> => {
    await yieldFairly("begin");
    steps.push(`${name} starts`);
    for (let awaited = 0; awaited < 20; awaited += 1) await Promise.resolve();
    steps.push(`${name} waits`);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await Promise.all(["a", "b", "c"].map(begin));
  expect(steps).toEqual(["a starts", "a waits", "b starts", "b waits", "c starts", "c waits"]);
});

test("the event loop runs between slow tasks", async () => {
  let isOver = false;
  let rounds = 0;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    Array.from({ length: 60 }, async () => {
      await yieldFairly("begin");
      busyFor(1);
    }),
  );
  isOver = true;
  expect(rounds).toBeGreaterThan(1);
});

test("a task does not wait for the event loop if no other is queued", async () => {
  await yieldFairly("begin");
  let hasRun = false;
  setImmediate(() => (hasRun = true));
  await yieldFairly("begin");
  expect(hasRun).toBe(false);
});

test("ending tasks run first, and tasks that continue run before beginning ones", async () => {
  const order: string[] = [];
  const go = async (kind: Parameters<typeof yieldFairly>[0], name: string): Promise<void> => {
    await yieldFairly(kind);
    order.push(name);
  };
  await Promise.all([
    go("begin", "begin 1"),
    go("begin", "begin 2"),
    go("continue", "continue"),
    go("end", "end 1"),
    go("end", "end 2"),
  ]);
  expect(order).toEqual(["end 1", "end 2", "continue", "begin 1", "begin 2"]);
});

function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
