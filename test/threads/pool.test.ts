import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Pool } from "../../src/workers/pool.js";
import type { FaultyJobs } from "../support/faulty-jobs.js";
import { JobChannel, openPool } from "../support/open-pool.js";
import { countThreads } from "../support/started-threads.js";
import { testThread } from "../support/test-thread.js";

const aborted = { ok: false, failure: expect.objectContaining({ code: "aborted", retryable: false }) };
const died = { ok: false, failure: expect.objectContaining({ code: "thread_died", retryable: true }) };

async function threadOf(pool: Pool<FaultyJobs>): Promise<unknown> {
  return await pool.run("thread", null);
}

test("jobs run in as many threads as allowed", async () => {
  const pool = openPool({ threads: 2 });
  const bell = new JobChannel();
  const running = [1, 2].map(() => pool.run("wait", { channel: bell.channel }));
  const waiting = pool.run("echo", "waited");
  await bell.began(2);
  expect(pool.waiting).toBe(1);
  bell.release();
  const [first, second] = await Promise.all(running);
  expect(second).not.toEqual(first);
  expect(await waiting).toEqual({ ok: true, value: "waited" });
});

test("jobs wait while a thread is prepared for them, and run in it", async () => {
  const pool = openPool({ threads: 2 });
  const bell = new JobChannel();
  const prepared = pool.prepare("wait", { channel: bell.channel });
  const jobs = [threadOf(pool), threadOf(pool)];
  await bell.began();
  expect(pool.waiting).toBe(2);
  bell.release();
  await prepared;
  const [first] = await Promise.all(jobs);
  expect(first).toMatchObject({ ok: true });
  expect(pool.waiting).toBe(0);
});

test("jobs run after a preparation that failed", async () => {
  const pool = openPool();
  void pool.prepare("exit", 7);
  expect(await pool.run("echo", "after")).toEqual({ ok: true, value: "after" });
});

test("waiting jobs run in order", async () => {
  const pool = openPool();
  const ended: number[] = [];
  const jobs = [1, 2, 3, 4].map(async (value) => {
    await pool.run("echo", value);
    ended.push(value);
  });
  await Promise.all(jobs);
  expect(ended).toEqual([1, 2, 3, 4]);
});

test("a thread has neither the environment nor the flags of the process", async () => {
  expect(await openPool().run("environment", null)).toEqual({ ok: true, value: { env: {}, execArgv: [] } });
});

test("an idle thread is terminated", async () => {
  const pool = openPool({ idleMs: 1 });
  const first = await threadOf(pool);
  await expect.poll(() => threadOf(pool)).not.toEqual(first);
});

describe("aborting", () => {
  test("a job whose signal is already aborted does not start", async () => {
    expect(await openPool().run("echo", 1, { signal: AbortSignal.abort() })).toEqual(aborted);
  });

  test("an aborted job that waits leaves the queue, and the thread keeps running", async () => {
    const pool = openPool();
    const bell = new JobChannel();
    const controller = new AbortController();
    const running = pool.run("wait", { channel: bell.channel });
    const waiting = pool.run("exit", 7, { signal: controller.signal });
    const behind = pool.run("echo", "behind");
    await bell.began();
    controller.abort();
    expect(await waiting).toEqual(aborted);
    expect(pool.waiting).toBe(1);
    bell.release();
    expect(await running).toMatchObject({ ok: true });
    expect(await behind).toEqual({ ok: true, value: "behind" });
  });

  test("an aborted running job is ended with its thread, even in an endless loop", async () => {
    const pool = openPool();
    const bell = new JobChannel();
    const before = await threadOf(pool);
    const controller = new AbortController();
    const spinning = pool.run("spin", { channel: bell.channel }, { signal: controller.signal, deadlineMs: 20_000 });
    await bell.began();
    controller.abort();
    expect(await spinning).toEqual(aborted);
    expect(await threadOf(pool)).not.toEqual(before);
  });
});

describe("several jobs per thread, cancelled by a message", () => {
  const shared = { jobsPerThread: 4, graceMs: 100 };

  test("the jobs run at the same time", async () => {
    const pool = openPool(shared);
    const bell = new JobChannel();
    const running = [1, 2, 3].map(() => pool.run("wait", { channel: bell.channel }));
    await bell.began(3);
    bell.release();
    const [first, ...others] = await Promise.all(running);
    expect(others).toEqual([first, first]);
  });

  test("a job that handles cancellation ends by itself, and its thread and the other jobs continue", async () => {
    const pool = openPool(shared);
    const bell = new JobChannel();
    const controller = new AbortController();
    const other = pool.run("wait", { channel: bell.channel });
    const held = pool.run("hold", { channel: bell.channel, stubborn: false }, { signal: controller.signal });
    await bell.began(2);
    const before = await threadOf(pool);
    controller.abort();
    expect(await held).toEqual(aborted);
    const late = await pool.run("hold", { channel: bell.channel, stubborn: false }, { deadlineMs: 20 });
    expect(late).toMatchObject({ failure: { code: "deadline", message: "hold: took longer than 20 ms" } });
    expect(await threadOf(pool)).toEqual(before);
    bell.release();
    expect(await other).toEqual(before);
  });

  test.each(["hold", "spin"] as const)(
    "a job that ignores cancellation (%s) is ended with its thread, and the other jobs may be retried",
    async (kind) => {
      const pool = openPool(shared);
      const bell = new JobChannel();
      const controller = new AbortController();
      const before = await threadOf(pool);
      const others = [1, 2].map(() => pool.run("wait", { channel: bell.channel }));
      await bell.began(2);
      const options = { signal: controller.signal, deadlineMs: 20_000 };
      const stubborn = pool.run(kind, { channel: bell.channel, stubborn: true }, options);
      await bell.began(3);
      controller.abort();
      expect(await stubborn).toEqual(aborted);
      expect(await Promise.all(others)).toEqual([died, died]);
      expect(await threadOf(pool)).not.toEqual(before);
    },
  );

  test("a job blocked by another in an endless loop fails at its own deadline", async () => {
    const pool = openPool(shared);
    const bell = new JobChannel();
    const spinning = pool.run("spin", { channel: bell.channel }, { deadlineMs: 20_000 });
    await bell.began();
    const behind = await pool.run("echo", 1, { deadlineMs: 20 });
    expect(behind).toMatchObject({ failure: { code: "deadline" } });
    expect(await spinning).toEqual(died);
  });
});

describe("closing", () => {
  test("ends running and waiting jobs, and refuses new ones", async () => {
    const pool = openPool({ graceMs: 60_000 });
    const bell = new JobChannel();
    const running = pool.run("hold", { channel: bell.channel, stubborn: true });
    const waiting = pool.run("echo", 1);
    await bell.began();
    const closing = pool.close();
    expect(await Promise.all([running, waiting, pool.run("echo", 2)])).toEqual([aborted, aborted, aborted]);
    await closing;
    expect(pool.close()).toBe(closing);
    expect(pool.waiting).toBe(0);
  });

  test("works before the first thread has started", async () => {
    const pool = openPool({ graceMs: 60_000 });
    const running = pool.run("echo", 1);
    await pool.close();
    expect(await running).toEqual(aborted);
  });
});

test.each([
  ["never_used", "done\n", 0],
  ["idle", "{ ok: true, value: 'answered' }\n", 1],
  ["not_awaited", "{ ok: true, value: 'answered' }\n", 1],
  ["waiting", "{ ok: true, value: 'answered' }\n", 1],
  ["closed", expect.stringContaining("the pool is closed"), 0],
])("a process exits by itself, and not before its work is done: %s", async (name, stdout, threads) => {
  const { env, started } = await countThreads();
  const script = fileURLToPath(testThread("pool-ends-by-itself"));
  // Rejects when the exit code is not 0.
  const output = await promisify(execFile)(process.execPath, [script, name], { timeout: 20_000, env });
  expect(output).toEqual({ stdout, stderr: "" });
  expect(await started()).toHaveLength(threads);
});
