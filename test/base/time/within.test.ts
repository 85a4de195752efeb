import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { within } from "../../../src/base/time/waiting.js";

const pending = new Promise<void>(() => {});

test("within says whether the promise settled in time and leaves no listener on the signal", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  expect(await within(Promise.resolve(), 60_000, signal)).toBe(true);
  expect(await within(Promise.reject(new Error("no")), 60_000, signal)).toBe(true);
  expect(await within(pending, 1, signal)).toBe(false);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  const waiting = within(pending, 60_000, signal);
  controller.abort();
  expect(await waiting).toBe(false);
  expect(await within(pending, 60_000, signal)).toBe(false);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
