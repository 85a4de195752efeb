import { expect, test } from "vitest";
import { SharedWork } from "../../../src/actors/runtime/shared-work.js";

test("who asks while it runs shares the next run, and nobody gets one that began before", async () => {
  const ends: ((value: number) => void)[] = [];
  const work = new SharedWork(() => new Promise<number>((resolve) => ends.push(resolve)));
  const first = work.ask();
  const others = [work.ask(), work.ask(), work.ask()];
  expect(ends).toHaveLength(1);
  ends[0]?.(1);
  expect(await first).toBe(1);
  ends[1]?.(2);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  expect(ends).toHaveLength(2);
});

test("a run that fails is told to who waited for it, and the next is made all the same", async () => {
  let runs = 0;
  const work = new SharedWork(async () => {
    runs += 1;
    if (runs === 1) throw new Error("no");
    return runs;
  });
  const [first, second] = await Promise.allSettled([work.ask(), work.ask()]);
  expect([first.status, second]).toEqual(["rejected", { status: "fulfilled", value: 2 }]);
});
