import { expect, test } from "vitest";
import { RestartWindow } from "../../../src/actors/runtime/spawn.js";

test("restarts are counted in a sliding window", () => {
  let now = 0;
  const restarts = new RestartWindow({ restarts: 2, windowMs: 1_000 }, () => now);
  const spendAt = (time: number): boolean => {
    now = time;
    return restarts.spend();
  };
  expect([0, 400, 500, 999].map(spendAt)).toEqual([true, true, false, false]);
  expect([1_000, 1_001, 1_399, 1_400].map(spendAt)).toEqual([true, false, false, true]);
});
