import { expect, test } from "vitest";
import { RequestQueue } from "../../../src/actors/limits/limits.js";
import type { RequestLimits } from "../../../src/messages/settings/config.js";

/** A request queue with a manual clock, and the ids that have entered. */
function open(limits: RequestLimits) {
  let nowMs = 0;
  const timers = new Map<() => void, number>();
  const entered: string[] = [];
  const queue = new RequestQueue({
    limits,
    now: () => nowMs,
    later: (ms, callback) => {
      timers.set(callback, nowMs + ms);
      return () => timers.delete(callback);
    },
  });
  return {
    queue,
    entered,
    add: (id: string, conversationId = id, tokens = 0) =>
      queue.add({ id, client: "test", conversationId, tokens, enter: () => entered.push(id) }),
    pass: (ms: number) => {
      nowMs += ms;
      for (const [callback, at] of timers) {
        if (at > nowMs) continue;
        timers.delete(callback);
        callback();
      }
    },
    timers,
  };
}

test("the concurrency limit holds, and the next request enters when one leaves", () => {
  const { queue, entered, add } = open({ concurrency: 2 });
  for (const id of ["a", "b", "c", "d"]) add(id);
  expect(entered).toEqual(["a", "b"]);
  queue.leave("b", undefined);
  expect(entered).toEqual(["a", "b", "c"]);
  queue.leave("nobody", undefined);
  expect(entered).toHaveLength(3);
  queue.leave("a", undefined);
  queue.leave("a", undefined);
  expect(entered).toEqual(["a", "b", "c", "d"]);
});

test("conversations take turns, however many requests one of them has queued", () => {
  const { queue, entered, add } = open({ concurrency: 1 });
  for (const id of ["hot1", "hot2", "hot3"]) add(id, "hot");
  for (const id of ["x", "y"]) add(id);
  while (entered.length < 5) queue.leave(entered.at(-1) ?? "", undefined);
  expect(entered).toEqual(["hot1", "hot2", "x", "y", "hot3"]);
});

test("a request that left the queue is skipped", () => {
  const { queue, entered, add } = open({ concurrency: 1 });
  for (const id of ["a", "b", "c"]) add(id);
  add("c2", "c");
  queue.leave("b", undefined);
  queue.leave("c", undefined);
  queue.leave("a", undefined);
  expect(entered).toEqual(["a", "c2"]);
});

test("requestsPerMinute: saved-up requests enter at once, the rest one by one", () => {
  const { entered, add, pass } = open({ requestsPerMinute: 60 });
  for (let n = 0; n < 63; n += 1) add(`${n}`);
  expect(entered).toHaveLength(60);
  pass(999);
  expect(entered).toHaveLength(60);
  pass(1);
  expect(entered).toHaveLength(61);
  pass(10_000);
  expect(entered).toHaveLength(63);
});

test("tokensPerMinute: the estimate is corrected by the reported number of tokens", () => {
  const { queue, entered, add, pass } = open({ tokensPerMinute: 6_000 });
  add("a", "a", 5_000);
  add("b", "b", 2_000);
  expect(entered).toEqual(["a"]);
  queue.leave("a", 1_000);
  expect(entered).toEqual(["a", "b"]);
  queue.leave("b", 9_000);
  add("c", "c", 1_000);
  pass(49_999);
  expect(entered).toHaveLength(2);
  pass(1);
  expect(entered).toEqual(["a", "b", "c"]);
});

test("a request above the limit of a whole minute enters when the budget is full", () => {
  const { entered, add, pass } = open({ tokensPerMinute: 100 });
  add("huge", "huge", 100_000);
  expect(entered).toEqual(["huge"]);
  add("next", "next", 1);
  pass(60_000);
  expect(entered).toEqual(["huge"]);
  pass(100_000 * 600);
  expect(entered).toEqual(["huge", "next"]);
});

test("hold delays all requests for the longest requested time, and a closed queue lets no request enter", () => {
  const { queue, entered, add, pass, timers } = open({});
  queue.hold(1_000);
  queue.hold(500);
  add("a");
  pass(999);
  expect(entered).toEqual([]);
  pass(1);
  expect(entered).toEqual(["a"]);
  queue.hold(1_000);
  add("b");
  queue.close();
  expect(timers.size).toBe(0);
  pass(5_000);
  expect(entered).toEqual(["a"]);
});
