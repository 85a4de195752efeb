import { expect, test } from "vitest";
import { yieldFairly, yieldToLoop } from "../../../src/actors/runtime/scheduler.js";

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
  const waits: boolean[] = [];
  // More than once: if the process is suspended for longer than a slice, the loop gets its turn.
  for (let time = 0; time < 20; time += 1) {
    let hasRun = false;
    setImmediate(() => (hasRun = true));
    await yieldFairly("begin");
    waits.push(hasRun);
  }
  expect(waits).toContain(false);
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

test("the event loop has a turn before each of several long steps", async () => {
  const order: string[] = [];
  for (const step of ["first", "second"]) {
    setImmediate(() => order.push(`loop before ${step}`));
    await yieldToLoop("continue");
    order.push(step);
  }
  expect(order).toEqual(["loop before first", "first", "loop before second", "second"]);
});

test("long steps that become ready together have turns of the event loop between them", async () => {
  let rounds = 0;
  let isOver = false;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  const seen: number[] = [];
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      await yieldToLoop("begin");
      if (seen.length === 0) setImmediate(count);
      seen.push(rounds);
      busyFor(50);
    }),
  );
  isOver = true;
  expect(new Set(seen).size).toBe(3);
});

function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
