import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { orAborted } from "../../../src/base/time/waiting.js";

test("orAborted resolves with the value of finished work and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await orAborted(Promise.resolve("done"), signal)).toBe("done");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("orAborted rejects when the work fails", async () => {
  const { signal } = new AbortController();
  await expect(orAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
});

test("orAborted resolves with undefined when the signal is aborted", async () => {
  const controller = new AbortController();
  const waiting = orAborted(new Promise(() => undefined), controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
  expect(await orAborted(new Promise(() => undefined), controller.signal)).toBeUndefined();
});
