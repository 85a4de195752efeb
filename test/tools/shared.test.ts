import { expect, test } from "vitest";
import { Shared } from "../../src/tools/shared.js";

test("who asks together is answered together, and who asks later gets what is newer", async () => {
  const ends: (() => void)[] = [];
  let begun = 0;
  const shared = new Shared(() => {
    begun += 1;
    const number = begun;
    return new Promise<number>((resolve) => ends.push(() => resolve(number)));
  });
  const first = [shared.run(), shared.run()];
  await new Promise(setImmediate);
  const second = [shared.run(), shared.run(), shared.run()];
  await new Promise(setImmediate);
  expect(begun).toBe(1);
  ends[0]?.();
  expect(await Promise.all(first)).toEqual([1, 1]);
  await new Promise(setImmediate);
  ends[1]?.();
  expect(await Promise.all(second)).toEqual([2, 2, 2]);
  const third = shared.run();
  await new Promise(setImmediate);
  ends[2]?.();
  expect(await third).toBe(3);
});
