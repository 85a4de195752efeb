import { once } from "node:events";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { hasThreadPriority } from "../../src/workers/jobs.js";
import { testThread } from "../support/test-thread.js";

test("a thread lowers its own priority without affecting other threads", async () => {
  const before = getPriority();
  const [priority] = (await once(new Worker(testThread("low-priority")), "message")) as [number];
  expect(priority).toBe(hasThreadPriority ? Math.min(before + 10, 19) : before);
  expect(getPriority()).toBe(before);
});
