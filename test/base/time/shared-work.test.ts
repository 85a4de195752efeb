import { expect, test } from "vitest";
import { SharedWork } from "../../../src/base/time/shared-work.js";

test("callers during a run share the next run, and none gets a run that began before its call", async () => {
  const ends: ((value: number) => void)[] = [];
  const work = new SharedWork(() => new Promise<number>((resolve) => ends.push(resolve)));
  const first = work.ask();
  await new Promise(setImmediate);
  const others = [work.ask(), work.ask(), work.ask()];
  expect(ends).toHaveLength(1);
  ends[0]?.(1);
  expect(await first).toBe(1);
  await new Promise(setImmediate);
  ends[1]?.(2);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  expect(ends).toHaveLength(2);
});

test("a failed run rejects its callers, and the next call starts a new run", async () => {
  let runs = 0;
  const work = new SharedWork(async () => {
    runs += 1;
    if (runs === 1) throw new Error("no");
    return runs;
  });
  await expect(work.ask()).rejects.toThrow("no");
  expect(await work.ask()).toBe(2);
});

test("simultaneous callers share a run, and a later caller gets a newer run", async () => {
  const ends: (() => void)[] = [];
  let begun = 0;
  const shared = new SharedWork(() => {
    begun += 1;
    const number = begun;
    return new Promise<number>((resolve) => ends.push(() => resolve(number)));
  });
  const first = [shared.ask(), shared.ask()];
  await new Promise(setImmediate);
  const second = [shared.ask(), shared.ask(), shared.ask()];
  await new Promise(setImmediate);
  expect(begun).toBe(1);
  ends[0]?.();
  expect(await Promise.all(first)).toEqual([1, 1]);
  await new Promise(setImmediate);
  ends[1]?.();
  expect(await Promise.all(second)).toEqual([2, 2, 2]);
  const third = shared.ask();
  await new Promise(setImmediate);
  ends[2]?.();
  expect(await third).toBe(3);
});
