import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ActorEvent } from "../../src/actors/runtime/actor.js";
import type { ProbeEvent, ProbeOp } from "./probe-actor.js";
import { failureOf, probeHost, type Place } from "./probe-host.js";

/** Tests that every actor must pass, in whichever thread it runs. */
export function actorSuite(place: Place): void {
  const host = probeHost(place);

  describe("messages", () => {
    test("an ask is answered", async () => {
      const { ref } = host();
      expect(await ref.ask({ type: "echo", value: { deep: [1, "two", null] } })).toEqual({ deep: [1, "two", null] });
      expect(await ref.ask({ type: "note", value: 1 })).toBeUndefined();
    });

    test("a submission's id is its own and reaches the handler", async () => {
      const { ref, events } = host();
      const first = await ref.tell({ type: "publish", value: "first" });
      const second = await ref.tell({ type: "publish", value: "second" });
      await events.until(({ id }) => id === second);
      expect(events.seen.filter(({ msg }) => msg.type === "published")).toEqual([
        { id: first, msg: { type: "published", value: "first" } },
        { id: second, msg: { type: "published", value: "second" } },
      ]);
      expect(first).not.toBe(second);
    });

    test("an unsolicited event has an empty id", async () => {
      const { until } = host();
      expect(await until("starting")).toEqual({ id: "", msg: { type: "starting", time: 1 } });
    });

    test("any mix of tells and asks is handled in order", async () => {
      const { ref } = host({}, { capacity: 8 });
      const calls = fc.array(fc.record({ how: fc.constantFrom("tell", "ask"), value: fc.integer() }), {
        maxLength: 60,
      });
      await fc.assert(
        fc.asyncProperty(calls, async (submitted) => {
          const before = await ref.ask({ type: "notes" });
          await Promise.all(
            submitted.map(({ how, value }) => (how === "tell" ? ref.tell(note(value)) : ref.ask(note(value)))),
          );
          const after = await ref.ask({ type: "notes" });
          expect(after.slice(before.length)).toEqual(submitted.map(({ value }) => value));
        }),
        { numRuns: 50 },
      );
    });

    test("a handler that answers later does not block the ones behind it", async () => {
      const { ref, until } = host();
      const held = ref.ask({ type: "hold", key: "a", manner: "gentle" });
      await until("holding");
      expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
      await ref.tell({ type: "release", key: "a" });
      expect(await held).toBe("released, aborted at first: false");
    });

    test("an unknown message is refused and has no other effect", async () => {
      const { ref, restarts } = host();
      const unknown = { type: "no_such_type" } as unknown as Extract<ProbeOp, { type: "notes" }>;
      expect(await failureOf(ref.ask(unknown))).toMatchObject({ code: "bad_message", retryable: false });
      expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
      expect(restarts.seen).toEqual([]);
    });

    test("a listener that throws does not affect the actor", async () => {
      const heard: ActorEvent<ProbeEvent>[] = [];
      const { ref, restarts } = host(
        {},
        {
          onEvent: (event) => {
            heard.push(event);
            throw new Error("bad listener");
          },
        },
      );
      await ref.ask({ type: "publish", value: 1 });
      await ref.ask({ type: "publish", value: 2 });
      expect(heard.map(({ msg }) => msg)).toEqual([
        { type: "starting", time: 1 },
        { type: "published", value: 1 },
        { type: "published", value: 2 },
      ]);
      expect(restarts.seen).toEqual([]);
    });
  });

  describe("backpressure", () => {
    test("a tell waits for a free place in the mailbox", async () => {
      const { ref, until } = host({}, { capacity: 1 });
      const holder = new AbortController();
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }, holder.signal));
      await until("holding");
      const order: string[] = [];
      const waiting = ref.tell(note("waited")).then(() => order.push("accepted"));
      // Enough round trips for a message to be accepted by another actor, and a few more.
      const other = host();
      for (let trip = 0; trip < 5; trip += 1) await other.ref.ask({ type: "echo", value: trip });
      order.push("freed");
      holder.abort();
      await waiting;
      expect((await held).code).toBe("aborted");
      expect(order).toEqual(["freed", "accepted"]);
      expect(await ref.ask({ type: "notes" })).toEqual(["waited"]);
    });

    test("a flood of 100,000 messages stays within the capacity and arrives whole, in order", async () => {
      const { ref } = host({}, { capacity: 64 });
      const count = 100_000;
      let accepted = 0;
      const tells = Array.from({ length: count }, (_, value) =>
        ref.tell({ type: "slow_note", value }).then(() => (accepted += 1)),
      );
      await Promise.all(tells);
      expect(accepted).toBe(count);
      expect(await ref.ask({ type: "most_at_once" })).toBeLessThanOrEqual(64);
      expect(await ref.ask({ type: "most_at_once" })).toBeGreaterThan(1);
      let notes = await ref.ask({ type: "notes" });
      while (notes.length < count) notes = await ref.ask({ type: "notes" });
      expect(notes.every((value, index) => value === index)).toBe(true);
    });

    test("a message an actor sends to itself needs no place in the mailbox", async () => {
      const { ref, until } = host({}, { capacity: 2 });
      const first = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }));
      await ref.tell({ type: "work", how: "succeed" });
      const second = failureOf(ref.ask({ type: "hold", key: "b", manner: "gentle" }));
      expect((await until("work_ended")).msg).toEqual({ type: "work_ended", failure: undefined });
      await ref.stop();
      expect([(await first).code, (await second).code]).toEqual(["actor_stopped", "actor_stopped"]);
    });
  });

  describe("aborting an ask", () => {
    test("an ask aborted beforehand is not sent", async () => {
      const { ref } = host();
      expect(await failureOf(ref.ask(note("never"), AbortSignal.abort()))).toMatchObject({
        code: "aborted",
        message: "probe: note: aborted",
      });
      expect(await ref.ask({ type: "notes" })).toEqual([]);
    });

    test("an aborted ask that waits for a place never runs", async () => {
      const { ref, until } = host({}, { capacity: 1 });
      const holder = new AbortController();
      const waiter = new AbortController();
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }, holder.signal));
      await until("holding");
      const waiting = failureOf(ref.ask(note("never"), waiter.signal));
      const behind = ref.tell(note("behind"));
      waiter.abort();
      expect((await waiting).code).toBe("aborted");
      holder.abort();
      expect((await held).code).toBe("aborted");
      await behind;
      expect(await ref.ask({ type: "notes" })).toEqual(["behind"]);
    });

    test("aborting a running ask aborts its handler's signal, and the actor keeps running", async () => {
      const { ref, until, restarts } = host();
      const controller = new AbortController();
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }, controller.signal));
      await until("holding");
      controller.abort();
      expect(await held).toEqual({ code: "aborted", message: "probe: hold: aborted", retryable: false });
      await until("hold_ended");
      expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
      expect(restarts.seen).toEqual([]);
    });

    test.each(["stubborn", "stubborn_then_rejects"] as const)(
      "a late result of an aborted ask is ignored: %s",
      async (manner) => {
        const { ref, until, restarts } = host();
        const controller = new AbortController();
        const held = failureOf(ref.ask({ type: "hold", key: "a", manner }, controller.signal));
        await until("holding");
        controller.abort();
        expect((await held).code).toBe("aborted");
        await until("hold_aborted");
        await ref.ask({ type: "release", key: "a" });
        await until("hold_ended");
        expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
        expect(restarts.seen).toEqual([]);
      },
    );

    test("aborting an answered ask has no effect", async () => {
      const { ref } = host();
      const controller = new AbortController();
      expect(await ref.ask({ type: "echo", value: 1 }, controller.signal)).toBe(1);
      controller.abort();
      expect(await ref.ask({ type: "echo", value: 2 })).toBe(2);
    });

    test("one signal can abort many asks", async () => {
      const { ref, events } = host();
      const controller = new AbortController();
      const keys = Array.from({ length: 50 }, (_, index) => `hold ${index}`);
      const held = keys.map((key) => failureOf(ref.ask({ type: "hold", key, manner: "gentle" }, controller.signal)));
      await events.until(({ msg }) => msg.type === "holding" && msg.key === keys.at(-1));
      controller.abort();
      expect(new Set((await Promise.all(held)).map(({ code }) => code))).toEqual(new Set(["aborted"]));
    });
  });

  describe("failures", () => {
    test.each(["throw", "reject"] as const)("a handler that fails by %s ends the incarnation", async (how) => {
      const { ref, until, restarts, msgs } = host();
      await ref.tell(note("forgotten"));
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }));
      await until("holding");
      expect(await failureOf(ref.ask({ type: "fail", how, message: "boom" }))).toEqual({
        code: "actor_failed",
        message: "probe: fail: boom",
        retryable: false,
      });
      expect(await held).toMatchObject({ code: "actor_failed", retryable: true });
      expect(await restarts.until(() => true)).toMatchObject({ code: "actor_failed", message: "probe: fail: boom" });
      expect(await ref.ask({ type: "notes" })).toEqual([]);
      expect(msgs().map(({ type }) => type)).toEqual([
        "starting",
        "holding",
        "hold_aborted",
        "hold_ended",
        "disposed",
        "starting",
      ]);
    });

    test("messages behind the one that failed reach the next incarnation", async () => {
      const { ref, restarts } = host();
      const tells = [ref.tell({ type: "fail", how: "throw", message: "boom" })];
      for (let value = 0; value < 20; value += 1) tells.push(ref.tell(note(value)));
      await Promise.all(tells);
      expect(await ref.ask({ type: "notes" })).toEqual(Array.from({ length: 20 }, (_, value) => value));
      expect(restarts.seen).toHaveLength(1);
    });

    test("the places of a failed incarnation's messages are free again", async () => {
      const { ref, until } = host({}, { capacity: 2 });
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }));
      await until("holding");
      await failureOf(ref.ask({ type: "fail", how: "throw", message: "boom" }));
      await held;
      const again = [ref.ask({ type: "echo", value: 1 }), ref.ask({ type: "echo", value: 2 })];
      expect(await Promise.all(again)).toEqual([1, 2]);
    });

    test("running work is aborted and its result is not passed to the next incarnation", async () => {
      const { ref, until, restarts, msgs } = host();
      await ref.tell({ type: "work", how: "until_aborted" });
      await until("working");
      await failureOf(ref.ask({ type: "fail", how: "throw", message: "boom" }));
      await restarts.until(() => true);
      await ref.ask({ type: "echo", value: 1 });
      expect(msgs().map(({ type }) => type)).toEqual(["starting", "working", "work_aborted", "disposed", "starting"]);
    });

    test("a dispose that throws does not prevent the restart", async () => {
      const { ref, restarts } = host({ disposal: "throws" });
      await failureOf(ref.ask({ type: "fail", how: "throw", message: "boom" }));
      await restarts.until(() => true);
      expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
    });

    test("a start that fails once is retried, and calls wait for it", async () => {
      const { ref, restarts } = host({ failingStarts: 1 });
      expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
      expect(restarts.seen).toMatchObject([{ code: "actor_failed", message: "probe: start: start 1 fails" }]);
    });

    test("a start that always fails spends the budget and rejects every call", async () => {
      const { ref, failures, msgs, restarts } = host({ failingStarts: Infinity }, { capacity: 1 });
      const calls = [ref.ask({ type: "notes" }), ref.ask({ type: "notes" })].map(failureOf);
      const failure = await failures.until(() => true);
      expect(failure.code).toBe("actor_failed");
      expect(failure.message).toContain("probe: start: start 4 fails");
      expect(await Promise.all(calls)).toEqual([failure, failure]);
      expect(await failureOf(ref.tell(note(1)))).toEqual(failure);
      expect(await failureOf(ref.ask({ type: "notes" }))).toEqual(failure);
      expect(msgs()).toEqual([1, 2, 3, 4].map((time) => ({ type: "starting", time })));
      expect(restarts.seen).toEqual([]);
      expect(failures.seen).toHaveLength(1);
    });

    test("an actor that fails more often than its budget has failed for good", async () => {
      const { ref, failures, restarts } = host({}, { budget: { restarts: 1, windowMs: 60_000 } });
      await failureOf(ref.ask({ type: "fail", how: "throw", message: "first" }));
      await restarts.until(() => true);
      await failureOf(ref.ask({ type: "fail", how: "reject", message: "second" }));
      expect((await failures.until(() => true)).message).toContain("probe: fail: second");
      expect((await failureOf(ref.ask({ type: "notes" }))).code).toBe("actor_failed");
      expect((await failureOf(ref.tell(note(1)))).code).toBe("actor_failed");
      expect(restarts.seen).toHaveLength(1);
      await ref.stop();
    });
  });

  describe("work beside the mailbox", () => {
    test("its result comes back as a message", async () => {
      const { ref, until } = host();
      await ref.tell({ type: "work", how: "succeed" });
      expect((await until("work_ended")).msg).toEqual({ type: "work_ended", failure: undefined });
    });

    test("an error it throws comes back as an internal failure", async () => {
      const { ref, until } = host();
      await ref.tell({ type: "work", how: "throw" });
      expect((await until("work_ended")).msg).toEqual({
        type: "work_ended",
        failure: { code: "internal", message: "work went wrong", retryable: false },
      });
    });

    test("aborting it comes back as aborted, and messages are handled meanwhile", async () => {
      const { ref, until } = host();
      await ref.tell({ type: "work", how: "until_aborted" });
      await until("working");
      expect(await ref.ask({ type: "echo", value: 1 })).toBe(1);
      await ref.tell({ type: "abort_work" });
      expect((await until("work_ended")).msg).toEqual({
        type: "work_ended",
        failure: { code: "aborted", message: "work was aborted", retryable: false },
      });
    });
  });

  describe("stopping", () => {
    test("unanswered, waiting and later calls are refused", async () => {
      const { ref, until } = host({}, { capacity: 1 });
      const held = failureOf(ref.ask({ type: "hold", key: "a", manner: "gentle" }));
      await until("holding");
      const waiting = [failureOf(ref.tell(note(1))), failureOf(ref.ask({ type: "notes" }))];
      const stopping = ref.stop();
      const later = [failureOf(ref.tell(note(2))), failureOf(ref.ask({ type: "notes" }))];
      const failures = await Promise.all([held, ...waiting, ...later]);
      expect(failures.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => "actor_stopped"));
      await stopping;
      expect((await failureOf(ref.tell(note(3)))).code).toBe("actor_stopped");
    });

    test("running work is aborted, then everything is released; stopping twice has no further effect", async () => {
      const { ref, until, msgs, restarts, failures } = host();
      await ref.tell({ type: "work", how: "until_aborted" });
      await until("working");
      await Promise.all([ref.stop(), ref.stop()]);
      await ref.stop();
      expect(msgs().map(({ type }) => type)).toEqual(["starting", "working", "work_aborted", "disposed"]);
      expect([...restarts.seen, ...failures.seen]).toEqual([]);
    });

    test("a dispose that throws does not make stopping fail", async () => {
      const { ref, msgs } = host({ disposal: "throws" });
      await ref.ask({ type: "notes" });
      await ref.stop();
      expect(msgs().map(({ type }) => type)).toEqual(["starting", "disposed"]);
    });

    test("an actor can be stopped right after it was spawned", async () => {
      const { ref } = host();
      const asked = failureOf(ref.ask({ type: "notes" }));
      await ref.stop();
      expect((await asked).code).toBe("actor_stopped");
    });
  });
}

function note(value: unknown): Extract<ProbeOp, { type: "note" }> {
  return { type: "note", value };
}
