import { expect, test } from "vitest";
import { defaultRetry, retryDelayMs } from "../../../src/base/time/retry.js";

const attempts = [1, 2, 3, 4, 5];

test("the default delays are 250 ms, 500 ms, 1 s, 2 s and 4 s, and there is no sixth", () => {
  expect(attempts.map((attempt) => retryDelayMs(defaultRetry, attempt, undefined, () => 0))).toEqual([
    250, 500, 1_000, 2_000, 4_000,
  ]);
  expect(defaultRetry.maxRetries).toBe(attempts.length);
});

test("a delay is at most a tenth longer, and never shorter", () => {
  expect(attempts.map((attempt) => retryDelayMs(defaultRetry, attempt, undefined, () => 1))).toEqual([
    275, 550, 1_100, 2_200, 4_400,
  ]);
});

test("a delay stops growing at its bound", () => {
  expect(retryDelayMs({ ...defaultRetry, maxDelayMs: 700 }, 20, undefined, () => 0)).toBe(700);
});

test("the delay that the server asked for is used as it is, even above the bound", () => {
  expect(retryDelayMs(defaultRetry, 1, 0, () => 1)).toBe(0);
  expect(retryDelayMs(defaultRetry, 1, 90_000, () => 1)).toBe(90_000);
});
