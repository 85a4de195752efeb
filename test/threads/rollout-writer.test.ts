import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openOutbox, RolloutOutbox } from "../../src/actors/rollout-writer/outbox.js";
import { openOwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import type { Rollout } from "../../src/actors/rollout-writer/rollout.js";
import { WriterThread, type WriterThreadOptions } from "../../src/actors/rollout-writer/writer-thread.js";
import type { SaveOutcome } from "../../src/messages/actors/rollout-writer.js";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine } from "../../src/rollouts/file/encode.js";
import { entryUrl } from "../../src/workers/entry-url.js";
import { plainEncoder } from "../support/redaction.js";
import { said } from "../support/said.js";
import { testThread } from "../support/test-thread.js";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cody-thread-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function request(id: string) {
  return { conversationId: id, path: join(directory, `${id}.jsonl`), mode: "create" as const, encode: plainEncoder };
}

const ids = Array.from({ length: 40 }, (_, index) => `c${index}`);
const rounds = 5;
const saved = { status: "saved" };
const lineOf = (id: string, round: number): OwnLine => said(`${id} round ${round} ${"x".repeat(round * 100)}`);

function expectEveryLineOnce(): void {
  for (const id of ids) {
    const expected = Array.from({ length: rounds }, (_, round) => encodeLine(lineOf(id, round)).repeat(2)).join("");
    expect(content(id)).toBe(expected);
  }
}

/** Flushes until everything is saved; every answer comes within the outbox's deadline. */
async function untilSaved(rollout: Rollout): Promise<void> {
  for (;;) if ((await rollout.flush()).status === "saved") return;
}

async function play(rollouts: readonly Rollout[]): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      rollouts.map(async (rollout, index) => {
        const line = lineOf(ids[index] ?? "", round);
        rollout.append(line);
        rollout.append(line);
        await untilSaved(rollout);
      }),
    );
  }
}

test("forty conversations are saved by the writer's own thread", async () => {
  const outbox = openOutbox({ XDG_RUNTIME_DIR: directory });
  const opened = await Promise.all(ids.map((id) => outbox.open(request(id))));
  expect(opened.map(({ outcome }) => outcome.status)).toEqual(ids.map(() => "open"));
  await play(opened.map(({ rollout }) => rollout));
  await outbox.stop();
  expectEveryLineOnce();
});

/** An outbox with another thread entry, which is stopped after the test. */
async function open(entry: URL, options: WriterThreadOptions & { deadlineMs?: number } = {}) {
  const socket = await openOwnerSocket(directory);
  const thread = new WriterThread(() => entry, options);
  const outbox = new RolloutOutbox({
    writer: thread,
    owner: async () => socket.owner,
    onStopped: () => socket.close(),
    ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
  });
  let ports = 0;
  outbox.connect({
    onFailed: () => undefined,
    onPort: (port) => {
      ports += 1;
      port.close();
    },
  });
  onTestFinished(() => outbox.stop());
  return { outbox, deaths: () => ports - 1 };
}

const manyRestarts = { restarts: 10_000, windowMs: 1_000 };

test("a writer thread that dies repeatedly between a write and its answer leaves every line exactly once", async () => {
  const { outbox, deaths } = await open(testThread("dying-writer"), { budget: manyRestarts });
  const opened = await Promise.all(ids.map((id) => outbox.open(request(id))));
  expect(opened.map(({ outcome }) => outcome.status)).toEqual(ids.map(() => "open"));
  await play(opened.map(({ rollout }) => rollout));
  expect(deaths()).toBeGreaterThan(3);
  expectEveryLineOnce();
  await outbox.stop();
  expectEveryLineOnce();
});

describe("the end of the thread", () => {
  test.each(["exit", "bug", "throw_outside", "out_of_memory"])(
    "%s: a new thread replaces it, and waiting lines are saved once",
    async (how) => {
      const resourceLimits = { maxOldGenerationSizeMb: 32 };
      const { outbox, deaths } = await open(testThread("faulty-writer"), { resourceLimits });
      const [a, b] = await Promise.all(["a", "b"].map((id) => outbox.open(request(id))));
      const lines = [said("before"), said(`(fault ${how} 1)`), said("after")];
      for (const line of lines) a?.rollout.append(line);
      b?.rollout.append(said("beside"));
      expect(await Promise.all([a?.rollout.flush(), b?.rollout.flush()])).toEqual([saved, saved]);
      expect(content("a")).toBe(lines.map(encodeLine).join(""));
      expect(content("b")).toBe(encodeLine(said("beside")));
      expect(deaths()).toBe(1);
    },
  );

  test("a thread that dies more often than its budget has failed for good", async () => {
    const { outbox } = await open(testThread("faulty-writer"), { budget: { restarts: 1, windowMs: 60_000 } });
    const { rollout } = await outbox.open(request("a"));
    rollout.append(said("(fault exit 1)"));
    expect(await rollout.flush()).toEqual(saved);
    rollout.append(said("(fault throw_outside 1)"));
    rollout.append(said("(fault throw_outside 2)"));
    const reason = "faulty-writer: the thread died: nobody catches this (failed for good: 1 restarts within 60000 ms)";
    expect(await untilNotSaved(rollout)).toEqual({ status: "not_saved", reason });
    expect((await outbox.open(request("b"))).outcome).toEqual({ status: "not_saved", reason });
  });

  test("a thread whose entry is missing has failed for good", async () => {
    const { outbox } = await open(testThread("missing"));
    const { outcome } = await outbox.open(request("a"));
    expect(outcome).toMatchObject({
      status: "not_saved",
      reason: expect.stringContaining("failed for good") as unknown,
    });
  });

  test("a thread in an endless loop is replaced", async () => {
    stopTime();
    const { outbox, deaths } = await open(testThread("faulty-writer"), { deadlineMs: 600_000 });
    const { rollout } = await outbox.open(request("a"));
    rollout.append(said("(fault spin 1)"));
    const flushed = rollout.flush();
    await spinning();
    vi.advanceTimersByTime(60_000);
    expect(await flushed).toEqual(saved);
    expect(deaths()).toBe(1);
    expect(content("a")).toBe(encodeLine(said("(fault spin 1)")));
  });

  test("a thread in an endless loop can be stopped, and its locks are released", async () => {
    stopTime();
    const { outbox } = await open(testThread("faulty-writer"));
    const { rollout } = await outbox.open(request("a"));
    rollout.append(said("(fault spin 1)"));
    await spinning();
    const stopped = outbox.stop();
    // The deadlines of the flush, of the close and of the stop.
    for (let wait = 0; wait < 3; wait += 1) await vi.advanceTimersByTimeAsync(10_000);
    await stopped;
    expect(existsSync(join(directory, "a.jsonl.lock"))).toBe(false);
  });
});

test.each([
  ["idle", "saved\n"],
  ["pending_append", "appended\n"],
  ["replaced", "saved\n"],
  ["stopped", "stopped\n"],
  ["never_used", "done\n"],
])("a process exits by itself, and not before its work is done: %s", async (name, output) => {
  const script = fileURLToPath(testThread("writer-ends-by-itself"));
  // Rejects when the exit code is not 0.
  const child = promisify(execFile)(process.execPath, [script, name, directory], { timeout: 20_000 });
  const { stdout, stderr } = await child;
  expect({ stdout, stderr }).toEqual({ stdout: output, stderr: "" });
});

test("the writer's thread loads no schema library", () => {
  const seen = new Set<string>();
  const visit = (url: URL): void => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const text = readFileSync(url, "utf8");
    for (const [, name = ""] of text.matchAll(/(?:from\s*|import\s*|require\()"(\.[^"]+)"/g)) visit(new URL(name, url));
  };
  visit(entryUrl("rollout-writer"));
  const zod = [...seen].filter((href) => readFileSync(new URL(href), "utf8").includes("ZodError"));
  expect(zod).toEqual([]);
});

/** Deadlines expire only when the test says so, because a busy machine may take long to start a thread. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
}

async function spinning(): Promise<void> {
  while (!existsSync(join(directory, "a.jsonl.spin-1"))) await new Promise((resolve) => setImmediate(resolve));
}

async function untilNotSaved(rollout: Rollout): Promise<SaveOutcome> {
  for (;;) {
    const outcome = await rollout.flush();
    if (outcome.status === "not_saved") return outcome;
  }
}

function content(id: string): string {
  return readFileSync(join(directory, `${id}.jsonl`), "utf8");
}
