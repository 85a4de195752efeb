import { describe, expect, onTestFinished, test, vi } from "vitest";
import { spawn } from "../../../src/actors/runtime/spawn.js";
import { actorSuite } from "../../support/actor-suite.js";
import { createProbe, type ProbeOp } from "../../support/probe-actor.js";
import { failureOf, probeHost } from "../../support/probe-host.js";
import { Watch } from "../../support/watch.js";

const place = (...[options, spawnOptions]: Parameters<Parameters<typeof actorSuite>[0]>) =>
  spawn(createProbe(), options, spawnOptions);

describe("an actor in this thread", () => {
  actorSuite(place);

  const host = probeHost(place);

  test.each(["toString", "constructor", "__proto__"])(
    "an inherited object property such as %s is not a handler",
    async (type) => {
      const { ref } = host();
      const op = { type } as unknown as Extract<ProbeOp, { type: "notes" }>;
      expect(await failureOf(ref.ask(op))).toMatchObject({ code: "bad_message" });
    },
  );

  test("an actor is active from the first message until nothing is queued and nothing runs", async () => {
    const changes: boolean[] = [];
    const { ref, until } = host({}, { onActive: (isActive) => changes.push(isActive) });
    await ref.ask({ type: "notes" });
    changes.length = 0;
    await ref.tell({ type: "work", how: "until_aborted" });
    await until("working");
    await ref.ask({ type: "notes" });
    expect(changes).toEqual([true]);
    await ref.tell({ type: "abort_work" });
    await until("work_ended");
    await ref.stop();
    expect(changes.at(-1)).toBe(false);
  });

  test("an ask aborted while it is queued never runs", async () => {
    const gate = new Watch<void>();
    const { ref } = host({ gate: gate.until(() => true) });
    const controller = new AbortController();
    const queued = failureOf(ref.ask({ type: "note", value: "never" }, controller.signal));
    await ref.tell({ type: "note", value: "kept" });
    controller.abort();
    expect((await queued).code).toBe("aborted");
    gate.push();
    expect(await ref.ask({ type: "notes" })).toEqual(["kept"]);
  });

  test("an aborted queued ask frees its mailbox slot for the next", async () => {
    const gate = new Watch<void>();
    const { ref } = host({ gate: gate.until(() => true) }, { capacity: 1 });
    const controller = new AbortController();
    const queued = failureOf(ref.ask({ type: "note", value: "never" }, controller.signal));
    const waiting = ref.tell({ type: "note", value: "kept" });
    controller.abort();
    await Promise.all([queued, waiting]);
    gate.push();
    expect(await ref.ask({ type: "notes" })).toEqual(["kept"]);
  });

  test("stop refuses messages queued during start, and releases the actor's resources", async () => {
    const gate = new Watch<void>();
    const { ref, until, msgs } = host({ gate: gate.until(() => true) });
    const queued = failureOf(ref.ask({ type: "notes" }));
    await until("starting");
    const stopping = ref.stop();
    expect((await queued).code).toBe("actor_stopped");
    gate.push();
    await stopping;
    expect(msgs().map(({ type }) => type)).toEqual(["starting", "disposed"]);
  });

  test("timers and sockets run while actors exchange messages endlessly", async () => {
    const endOfHops = 1_000_000;
    let hops = 0;
    const refs = [0, 1].map((own) =>
      spawn<{ type: "hop" }, Record<never, never>, undefined>(
        {
          name: "hopper",
          start: () => ({
            hop: () => {
              hops += 1;
              if (hops < endOfHops) refs[1 - own]?.tell({ type: "hop" }).catch(() => undefined);
            },
          }),
        },
        undefined,
      ),
    );
    await refs[0]?.tell({ type: "hop" });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(hops).toBeLessThan(endOfHops);
    await Promise.all(refs.map((ref) => ref.stop()));
  });

  test("messages do not wait for many iterations of a busy event loop", async () => {
    const { ref } = host({}, { capacity: 10_000 });
    await ref.ask({ type: "notes" });
    let rounds = 0;
    const isBusy = new AbortController();
    const round = (): void => {
      rounds += 1;
      for (const end = performance.now() + 20; performance.now() < end;);
      if (!isBusy.signal.aborted) setImmediate(round);
    };
    setImmediate(round);
    await Promise.all(Array.from({ length: 6_400 }, (_, value) => ref.tell({ type: "note", value })));
    expect(await ref.ask({ type: "notes" })).toHaveLength(6_400);
    isBusy.abort();
    // It would be a hundred if each iteration handled as few messages as in an idle loop.
    expect(rounds).toBeLessThan(50);
  });

  test("an actor with many messages does not delay another actor", async () => {
    const busy = host();
    const other = host();
    await Promise.all([busy.ref.ask({ type: "notes" }), other.ref.ask({ type: "notes" })]);
    const order: string[] = [];
    const flood = Array.from({ length: 1_000 }, (_, value) => busy.ref.tell({ type: "note", value }));
    const last = busy.ref.ask({ type: "notes" }).then(() => order.push("busy"));
    await other.ref.ask({ type: "echo", value: 1 }).then(() => order.push("other"));
    await Promise.all([...flood, last]);
    expect(order).toEqual(["other", "busy"]);
  });

  test("a completion queued behind a failure is dropped with its incarnation", async () => {
    const { ref, restarts, msgs } = host();
    await ref.ask({ type: "notes" });
    // More messages than one turn handles, so the work ends while the failing message is still queued.
    const tells = [ref.tell({ type: "work", how: "succeed" })];
    for (let value = 0; value < 200; value += 1) tells.push(ref.tell({ type: "note", value }));
    tells.push(ref.tell({ type: "fail", how: "throw", message: "boom" }));
    await Promise.all(tells);
    await restarts.until(() => true);
    await ref.ask({ type: "notes" });
    expect(msgs().map(({ type }) => type)).toEqual(["starting", "working", "disposed", "starting"]);
  });

  test("a throwing listener causes one warning", async () => {
    const warnings = new Watch<Error>();
    process.on("warning", warnings.push);
    const { ref } = host(
      {},
      {
        onEvent: () => {
          throw new Error("bad listener");
        },
      },
    );
    for (let value = 0; value < 5; value += 1) await ref.ask({ type: "publish", value });
    await warnings.until(isOurs);
    process.off("warning", warnings.push);
    expect(warnings.seen.filter(isOurs)).toHaveLength(1);
  });

  test("a handler that never ends delays restart and stop only until the timeout", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { ref, until, restarts } = host({ disposal: "hangs" });
    const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "stubborn" }));
    await until("holding");
    await failureOf(ref.ask({ type: "fail", how: "throw", message: "boom" }));
    expect((await held).code).toBe("actor_failed");
    expect(restarts.seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    await restarts.until(() => true);
    expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
    const stopping = ref.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    await stopping;
  });

  test("an actor that finishes starting after the stop timeout is released, and its events are dropped", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const gate = new Watch<void>();
    const steps = new Watch<string>();
    const ref = spawn<{ type: "unused" }, Record<never, never>, undefined, { type: "late" }, { type: "over" }>(
      {
        name: "late",
        start: async (_options, context) => {
          context.run(
            async () => {
              await gate.until(() => true);
              context.publish({ type: "late" });
              steps.push("worked");
            },
            () => ({ type: "over" }),
          );
          await steps.until((step) => step === "worked");
          return {
            unused: () => undefined,
            over: () => steps.push("over"),
            [Symbol.asyncDispose]: async () => steps.push("released"),
          };
        },
      },
      undefined,
      { onEvent: () => steps.push("heard") },
    );
    const stopping = ref.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    await stopping;
    gate.push();
    await steps.until((step) => step === "released");
    expect(steps.seen).toEqual(["worked", "released"]);
  });

  test("accepted messages that will never be handled are reported, including those that waited for a slot", async () => {
    const gate = new Watch<void>();
    const dropped: string[] = [];
    const ref = spawn<{ type: "note" }, Record<never, never>, undefined>(
      {
        name: "slow",
        start: async () => {
          await gate.until(() => true);
          return { note: () => undefined };
        },
      },
      undefined,
      { capacity: 2, onDropped: (id) => dropped.push(id) },
    );
    const atOnce = await ref.tell({ type: "note" });
    const controller = new AbortController();
    const asked = failureOf(ref.ask({ type: "note" }, controller.signal));
    const waiting = ref.tell({ type: "note" });
    controller.abort();
    await asked;
    const later = await waiting;
    const stopping = ref.stop();
    gate.push();
    await stopping;
    expect(dropped).toEqual([atOnce, later]);
  });

  test("the error of a failed handler is kept as the cause", async () => {
    const { ref } = host();
    await expect(ref.ask({ type: "fail", how: "throw", message: "boom" })).rejects.toMatchObject({
      name: "FailureError",
      cause: { message: "boom" },
    });
  });
});

function isOurs({ message }: Error): boolean {
  return message === "probe: a listener threw: bad listener";
}
