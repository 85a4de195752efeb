import { describe, expect, test } from "vitest";
import type { Pool } from "../../src/workers/pool.js";
import { type FaultyJobs, nested } from "../support/faulty-jobs.js";
import { JobChannel, openPool } from "../support/open-pool.js";

/** Checks that the pool still runs jobs, in the same thread or in a new one. */
async function expectWhole(pool: Pool<FaultyJobs>): Promise<void> {
  const values = await Promise.all([1, 2, 3].map((value) => pool.run("echo", value)));
  expect(values).toEqual([1, 2, 3].map((value) => ({ ok: true, value })));
  expect(pool.waiting).toBe(0);
}

async function threadOf(pool: Pool<FaultyJobs>): Promise<unknown> {
  return await pool.run("thread", null);
}

describe("a fault in a job is reported as its failure, and the pool keeps working", () => {
  test("a thrown error", async () => {
    const pool = openPool();
    const before = await threadOf(pool);
    expect(await pool.run("throw", "boom")).toEqual({
      ok: false,
      failure: { code: "internal", message: "throw: boom", retryable: false },
    });
    expect(await threadOf(pool)).toEqual(before);
  });

  test("a thrown failure keeps all of its fields", async () => {
    expect(await openPool().run("fail", "slower")).toEqual({
      ok: false,
      failure: { code: "rate_limit", message: "slower", retryable: true, retryAfterMs: 7 },
    });
  });

  test("process.exit", async () => {
    const pool = openPool();
    const message = "exit: the thread died: worker exited with code: 7";
    expect(await pool.run("exit", 7)).toEqual({
      ok: false,
      failure: { code: "thread_died", message, retryable: true },
    });
    await expectWhole(pool);
  });

  test("an uncaught error", async () => {
    const pool = openPool();
    expect(await pool.run("uncaught", "nobody catches this")).toMatchObject({
      failure: { code: "thread_died", message: "uncaught: the thread died: nobody catches this", retryable: true },
    });
    await expectWhole(pool);
  });

  test("the thread's memory runs out", async () => {
    const pool = openPool({ maxHeapMb: 24 });
    expect(await pool.run("out_of_memory", null)).toEqual({
      ok: false,
      failure: { code: "thread_died", message: "out_of_memory: the thread ran out of memory", retryable: false },
    });
    await expectWhole(pool);
  });

  test("a thread in an endless loop is terminated at the job's deadline, and the jobs behind it run", async () => {
    const pool = openPool();
    const spinning = pool.run("spin", { channel: "unused" });
    const behind = pool.run("echo", "behind");
    expect(pool.waiting).toBe(1);
    expect(await spinning).toEqual({
      ok: false,
      failure: { code: "deadline", message: "spin: took longer than 300 ms", retryable: false },
    });
    expect(await behind).toEqual({ ok: true, value: "behind" });
    await expectWhole(pool);
  });

  test("every thread in an endless loop", async () => {
    const pool = openPool({ threads: 2 });
    const spinning = Array.from({ length: 4 }, () => pool.run("spin", { channel: "unused" }, { deadlineMs: 200 }));
    const failure = expect.objectContaining({ code: "deadline" });
    expect(await Promise.all(spinning)).toEqual(spinning.map(() => ({ ok: false, failure })));
    await expectWhole(pool);
  });

  test("a missing thread entry", async () => {
    const pool = openPool({ entry: new URL("missing.js", import.meta.url) });
    const outcomes = await Promise.all([pool.run("echo", 1), pool.run("echo", 2)]);
    const failure = { code: "thread_died", message: expect.stringContaining("missing.js") };
    expect(outcomes).toMatchObject([{ failure }, { failure }]);
  });
});

describe("values that cannot be cloned fail only their job", () => {
  test.each([
    ["a function", () => undefined],
    ["100,000 levels", nested(100_000)],
    ["3,000 levels", nested(3_000)],
  ])("%s as input", async (_name, value) => {
    const pool = openPool();
    const [bad, good] = await Promise.all([pool.run("echo", value), pool.run("echo", "good")]);
    expect(bad).toMatchObject({ ok: false, failure: { code: "bad_message", retryable: false } });
    expect(good).toEqual({ ok: true, value: "good" });
  });

  test("a function as output", async () => {
    const pool = openPool();
    const before = await threadOf(pool);
    expect(await pool.run("unclonable", null)).toMatchObject({ ok: false, failure: { code: "bad_message" } });
    expect(await threadOf(pool)).toEqual(before);
  });

  test.each([100_000, 5_000])("%d levels as output", async (levels) => {
    const pool = openPool();
    const before = await threadOf(pool);
    expect(await pool.run("deep", levels)).toMatchObject({ ok: false, failure: { code: "bad_message" } });
    expect(await threadOf(pool)).toEqual(before);
  });

  test("plain data arrives unchanged", async () => {
    const value = {
      text: "a\ud800😀",
      list: [1, null, undefined, -0],
      when: new Date(0),
      bytes: new Uint8Array([1, 2]),
    };
    expect(await openPool().run("echo", value)).toEqual({ ok: true, value });
    expect(await openPool().run("deep", 500)).toEqual({ ok: true, value: nested(500) });
  });
});

describe("the size of inputs is checked before anything is sent", () => {
  test("a job that is too large is refused, so that its thread cannot allocate buffers without limit", async () => {
    const pool = openPool({ maxJobBytes: 100_000 });
    const before = process.memoryUsage().rss;
    const times = 300;
    expect(await pool.run("buffers", { bytes: new Uint8Array(10_000_000), times })).toMatchObject({
      failure: { code: "bad_message", retryable: false, message: expect.stringContaining("more than 100000") },
    });
    expect(await pool.run("buffers", { bytes: new Uint8Array(99_000), times })).toEqual({
      ok: true,
      value: 29_700_000,
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  test("jobs that are too large together are refused as busy", async () => {
    const pool = openPool({ maxJobBytes: 1000, maxBytes: 2500 });
    const bytes = new Uint8Array(900);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => pool.run("buffers", { bytes, times: 1 })));
    expect(outcomes).toMatchObject([
      { ok: true },
      { ok: true },
      { failure: { code: "busy", retryable: true } },
      { failure: { code: "busy", retryable: true } },
    ]);
    expect(await pool.run("buffers", { bytes, times: 1 })).toEqual({ ok: true, value: 900 });
  });
});

test("more jobs than may wait are refused until there is room again", async () => {
  const pool = openPool({ maxWaiting: 3 });
  const bell = new JobChannel();
  const running = pool.run("wait", { channel: bell.channel });
  const waiting = [1, 2, 3].map((value) => pool.run("echo", value));
  expect(pool.waiting).toBe(3);
  expect(await pool.run("echo", 4)).toEqual({
    ok: false,
    failure: { code: "busy", message: "echo: too many waiting jobs (3)", retryable: true },
  });
  await bell.began();
  bell.release();
  expect(await running).toMatchObject({ ok: true });
  expect(await Promise.all(waiting)).toEqual([1, 2, 3].map((value) => ({ ok: true, value })));
  await expectWhole(pool);
});
