import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { orAborted } from "../../../src/base/time/waiting.js";

test("work that ends first gives its value and leaves no listener behind", async () => {
  const { signal } = new AbortController();
  expect(await orAborted(Promise.resolve("done"), signal)).toBe("done");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("work that fails first fails", async () => {
  const { signal } = new AbortController();
  await expect(orAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
});

test("an aborted signal ends the wait for work that never ends", async () => {
  const controller = new AbortController();
  const waiting = orAborted(new Promise(() => undefined), controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
  expect(await orAborted(new Promise(() => undefined), controller.signal)).toBeUndefined();
});
