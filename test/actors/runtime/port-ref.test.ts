import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import type { Actor, Ref } from "../../../src/actors/runtime/actor.js";
import { portRef, serveRef } from "../../../src/actors/runtime/port-ref.js";
import { spawn } from "../../../src/actors/runtime/spawn.js";

type Op =
  | { readonly type: "add"; readonly amount: number; readonly extra?: unknown }
  | { readonly type: "wait" }
  | { readonly type: "break" };

interface OpAnswers {
  readonly add: { readonly total: number; readonly id: string };
  readonly wait: string;
}

function adder(aborted: string[]): Actor<Op, OpAnswers, null> {
  return {
    name: "adder",
    start: () => {
      let total = 0;
      return {
        add: ({ amount }, _signal, id) => ({ total: (total += amount), id }),
        wait: (_op, signal) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              aborted.push("wait");
              resolve("aborted");
            });
          }),
        break: () => {
          throw new Error("a bug");
        },
      };
    },
  };
}

function open(): { ref: Ref<Op, OpAnswers>; aborted: string[]; close: () => void } {
  const aborted: string[] = [];
  const { port1, port2 } = new MessageChannel();
  const actor = spawn(adder(aborted), null);
  serveRef(actor, port1);
  onTestFinished(() => {
    port1.close();
    return actor.stop();
  });
  return { ref: portRef(port2, "adder"), aborted, close: () => port1.close() };
}

test("a reference over a port tells and asks like one in the same thread", async () => {
  const { ref } = open();
  expect(await ref.tell({ type: "add", amount: 1 }, "first")).toBe("first");
  expect(await ref.ask({ type: "add", amount: 2 }, undefined, "second")).toEqual({ total: 3, id: "second" });
});

test("aborting an ask rejects it and reaches the handler", async () => {
  const { ref, aborted } = open();
  const controller = new AbortController();
  const answer = ref.ask({ type: "wait" }, controller.signal);
  // The port keeps order, so the handler of the ask has started when this one answers.
  await ref.ask({ type: "add", amount: 1 });
  controller.abort();
  await expect(answer).rejects.toMatchObject({ failure: { code: "aborted" } });
  await expect.poll(() => aborted).toEqual(["wait"]);
});

test("a failure of the actor rejects with its code", async () => {
  const { ref } = open();
  await expect(ref.ask({ type: "break" })).rejects.toMatchObject({ failure: { code: "actor_failed" } });
  expect(await ref.ask({ type: "add", amount: 5 })).toMatchObject({ total: 5 });
});

test("a message that cannot be cloned is refused at the sender, and later ones are not affected", async () => {
  const { ref } = open();
  await expect(ref.ask({ type: "add", amount: 1, extra: Symbol("extra") })).rejects.toMatchObject({
    failure: { code: "bad_message", message: expect.stringContaining("adder: add: cannot cross to the other thread") },
  });
  expect(await ref.ask({ type: "add", amount: 2 })).toMatchObject({ total: 2 });
});

test("when the port closes, waiting and later calls reject, and running handlers are aborted", async () => {
  const { ref, aborted, close } = open();
  const answer = ref.ask({ type: "wait" });
  await ref.ask({ type: "add", amount: 1 });
  close();
  await expect(answer).rejects.toMatchObject({ failure: { code: "thread_died", retryable: true } });
  await expect(ref.tell({ type: "add", amount: 1 })).rejects.toMatchObject({ failure: { code: "thread_died" } });
  await expect.poll(() => aborted).toEqual(["wait"]);
});
