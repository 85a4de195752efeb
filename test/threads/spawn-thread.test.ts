import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { spawnThread, type ThreadSpawnOptions } from "../../src/actors/runtime/spawn-thread.js";
import type { Failure } from "../../src/messages/failure.js";
import { actorSuite } from "../support/actor-suite.js";
import { nested, type ProbeAnswers, type ProbeEvent, type ProbeOp, type ProbeOptions } from "../support/probe-actor.js";
import { failureOf, probeHost, type ProbeRef } from "../support/probe-host.js";
import { testThread } from "../support/test-thread.js";

const place = (options: ProbeOptions, spawnOptions: ThreadSpawnOptions<ProbeEvent>) =>
  spawnThread<ProbeOp, ProbeAnswers, ProbeOptions, ProbeEvent>(testThread("probe"), options, spawnOptions);

describe("an actor in a thread of its own", () => {
  actorSuite(place);

  const host = probeHost(place);

  describe("values that cannot be cloned", () => {
    const bad = { function: () => undefined, "100,000 levels": nested(100_000), "4,000 levels": nested(4_000) };

    test.each(Object.entries(bad))("a message with a value of %s is refused alone", async (_name, value) => {
      const { ref, restarts } = host();
      const tells = [
        ref.tell({ type: "note", value: "before" }),
        failureOf(ref.tell({ type: "note", value })),
        failureOf(ref.ask({ type: "echo", value })),
        ref.tell({ type: "note", value: "after" }),
      ];
      const [, tell, ask] = await Promise.all(tells);
      expect(tell).toMatchObject({ code: "bad_message", retryable: false });
      expect(ask).toMatchObject({ code: "bad_message", retryable: false });
      expect(await ref.ask({ type: "notes" })).toEqual(["before", "after"]);
      expect(restarts.seen).toEqual([]);
    });

    test("an invalid message that is alone in its batch is refused", async () => {
      const { ref } = host();
      await ref.ask({ type: "notes" });
      expect((await failureOf(ref.tell({ type: "note", value: bad.function }))).code).toBe("bad_message");
      expect(await ref.ask({ type: "notes" })).toEqual([]);
    });

    test.each([
      { how: "unclonable", levels: 0 },
      { how: "deep", levels: 100_000 },
      // Not too deep for a thread to send, but too deep for the main thread to read.
      { how: "deep", levels: 5_000 },
    ] as const)("an answer that is $how ($levels) fails only its own ask", async (odd) => {
      const { ref, restarts } = host();
      const asks = [
        ref.ask({ type: "echo", value: 1 }),
        failureOf(ref.ask({ type: "answer_oddly", ...odd })),
        ref.ask({ type: "echo", value: 2 }),
      ];
      expect(await Promise.all(asks)).toMatchObject([1, { code: "bad_message" }, 2]);
      expect(restarts.seen).toEqual([]);
    });

    test("an answer nested 900 levels deep arrives", async () => {
      const { ref } = host();
      expect(await ref.ask({ type: "answer_oddly", how: "deep", levels: 900 })).toEqual(nested(900));
    });

    test("an event that cannot be cloned is dropped", async () => {
      const { ref, msgs } = host();
      await Promise.all([
        ref.ask({ type: "publish", value: 1 }),
        ref.ask({ type: "publish_unclonable" }),
        ref.ask({ type: "publish", value: 2 }),
      ]);
      expect(msgs()).toEqual([
        { type: "starting", time: 1 },
        { type: "published", value: 1 },
        { type: "published", value: 2 },
      ]);
    });
  });

  describe("the death of the thread", () => {
    test.each(["exit", "out_of_memory", "throw_outside", "close_port", "spin"] as const)(
      "%s: pending calls reject, and a new thread replaces it",
      async (how) => {
        if (how === "spin") stopTime();
        const resourceLimits = { maxOldGenerationSizeMb: 32 };
        const { ref, until, restarts, failures } = host({}, { deadlineMs, resourceLimits });
        await ref.tell({ type: "note", value: "forgotten" });
        const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }));
        await until("holding");
        const { fault, hasBegun } = how === "spin" ? spin(ref) : { fault: threadFault(ref, how) };
        const behind = failureOf(ref.ask({ type: "hold", key: "b", manner: "gentle" }));
        await hasBegun;
        if (how === "spin") vi.advanceTimersByTime(deadlineMs);
        const died = { code: "thread_died", retryable: true };
        expect(await Promise.all([held, fault, behind])).toMatchObject([died, died, died]);
        expect(await restarts.until(() => true)).toMatchObject(died);
        expect(await ref.ask({ type: "notes" })).toEqual([]);
        expect(restarts.seen).toHaveLength(1);
        expect(failures.seen).toEqual([]);
      },
    );

    test("the exit code and the error message are reported", async () => {
      const { ref, restarts } = host();
      await threadFault(ref, "exit");
      await restarts.until(({ message }) => message.includes("exited"));
      await threadFault(ref, "throw_outside");
      await restarts.until(({ message }) => message.includes("died"));
      expect(restarts.seen.map(({ message }) => message)).toEqual([
        "probe: the thread exited with code 7",
        "probe: the thread died: nobody catches this",
      ]);
    });

    test("calls made while the thread is being replaced wait for the new one", async () => {
      const { ref, restarts } = host();
      await threadFault(ref, "exit");
      await expectNotesAreKept(ref);
      expect(restarts.seen).toHaveLength(1);
    });

    test("calls made after the death of an idle thread wait for the new one", async () => {
      const { ref, until, restarts } = host();
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }));
      await until("holding");
      await ref.tell({ type: "thread_fault", how: "exit_soon" });
      expect((await held).code).toBe("thread_died");
      await expectNotesAreKept(ref);
      expect(restarts.seen).toHaveLength(1);
    });

    test("a thread that dies more often than its budget has failed for good", async () => {
      const { ref, failures, restarts } = host({}, { budget: { restarts: 1, windowMs: 60_000 } });
      await threadFault(ref, "exit");
      expect(await ref.ask({ type: "notes" })).toEqual([]);
      await threadFault(ref, "exit");
      expect(await failures.until(() => true)).toMatchObject({ code: "thread_died", retryable: false });
      expect((await failureOf(ref.tell({ type: "note", value: 1 }))).code).toBe("thread_died");
      expect(restarts.seen).toHaveLength(1);
      await ref.stop();
    });

    test("a thread can be stopped while it is being replaced", async () => {
      const { ref, restarts } = host();
      await threadFault(ref, "exit");
      const waiting = failureOf(ref.ask({ type: "notes" }));
      await ref.stop();
      expect((await waiting).code).toBe("actor_stopped");
      // By the time a thread that was started later answers, an unwanted replacement would have started.
      await host().ref.ask({ type: "notes" });
      expect(restarts.seen).toEqual([]);
    });

    test("a thread in an endless loop can be stopped", async () => {
      stopTime();
      const { ref, until } = host({}, { deadlineMs });
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }));
      await until("holding");
      const { fault: spinning, hasBegun } = spin(ref);
      await hasBegun;
      const stopped = ref.stop();
      await vi.advanceTimersByTimeAsync(deadlineMs);
      await stopped;
      expect(["thread_died", "actor_stopped"]).toContain((await held).code);
      expect(["thread_died", "actor_stopped"]).toContain((await spinning).code);
    });
  });

  test("a missing thread entry spends the budget", async () => {
    const failed = new Promise((resolve) => {
      const ref = spawnThread<ProbeOp, ProbeAnswers, ProbeOptions>(testThread("missing"), {}, { onFailed: resolve });
      ref.ask({ type: "notes" }).catch(() => undefined);
    });
    expect(await failed).toMatchObject({ code: "thread_died", retryable: false });
  });

  test("options that cannot be cloned spend the budget", async () => {
    const { ref, failures } = host({ gate: new Promise(() => undefined) });
    expect(await failures.until(() => true)).toMatchObject({ code: "thread_died" });
    expect((await failureOf(ref.ask({ type: "notes" }))).code).toBe("thread_died");
  });

  test.each([
    ["idle", "answered\n"],
    ["pending_ask", "later\n"],
    ["pending_tell", "1\n"],
    ["restarting", "answered by the next thread\n"],
    ["stopped", "stopped\n"],
    ["never_used", "done\n"],
  ])("a process exits by itself, and not before its work is done: %s", async (name, output) => {
    const script = fileURLToPath(testThread("ends-by-itself"));
    // Rejects when the exit code is not 0.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, name], { timeout: 20_000 });
    expect({ stdout, stderr }).toEqual({ stdout: output, stderr: "" });
  });

  test("no schema library is loaded in the thread", async () => {
    expect(await readFile(testThread("probe"), "utf8")).not.toMatch(/node_modules\/zod\//);
  });
});

const deadlineMs = 30_000;

/** Deadlines of a thread expire only when the test says so, because a busy machine may take long to start a thread. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Blocks the thread's event loop; `fault` is the failure of the call that was pending then. */
function spin(ref: ProbeRef): { fault: Promise<Failure>; hasBegun: Promise<void> } {
  const isSpinning = new Int32Array(new SharedArrayBuffer(4));
  const hasBegun = async (): Promise<void> => {
    while (Atomics.load(isSpinning, 0) === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  return { fault: failureOf(ref.ask({ type: "spin", isSpinning })), hasBegun: hasBegun() };
}

type Fault = Extract<ProbeOp, { type: "thread_fault" }>["how"];

/** Kills the thread; resolves with the failure of a call that was pending then, or of the call that killed it. */
function threadFault(ref: ProbeRef, how: Fault): Promise<Failure> {
  const pending = async (): Promise<string> => {
    await ref.tell({ type: "thread_fault", how });
    return ref.ask({ type: "hold", key: "pending", manner: "gentle" });
  };
  return failureOf(pending());
}

async function expectNotesAreKept(ref: ProbeRef): Promise<void> {
  const values = Array.from({ length: 10 }, (_, value) => value);
  await Promise.all(values.map((value) => ref.tell({ type: "note", value })));
  expect(await ref.ask({ type: "notes" })).toEqual(values);
}
