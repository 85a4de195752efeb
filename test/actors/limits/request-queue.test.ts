import { expect, test } from "vitest";
import { RequestQueue } from "../../../src/actors/limits/limits.js";
import type { RequestLimits } from "../../../src/messages/config.js";

/** A line, a clock that is set by hand, and who has entered. */
function open(limits: RequestLimits) {
  let nowMs = 0;
  const timers = new Map<() => void, number>();
  const entered: string[] = [];
  const line = new RequestQueue({
    limits,
    now: () => nowMs,
    later: (ms, callback) => {
      timers.set(callback, nowMs + ms);
      return () => timers.delete(callback);
    },
  });
  return {
    line,
    entered,
    add: (id: string, conversationId = id, tokens = 0) =>
      line.add({ id, conversationId, tokens, enter: () => entered.push(id) }),
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

test("so many are answered at once, and the next enters when one leaves", () => {
  const { line, entered, add } = open({ concurrency: 2 });
  for (const id of ["a", "b", "c", "d"]) add(id);
  expect(entered).toEqual(["a", "b"]);
  line.leave("b", undefined);
  expect(entered).toEqual(["a", "b", "c"]);
  line.leave("nobody", undefined);
  expect(entered).toHaveLength(3);
  line.leave("a", undefined);
  line.leave("a", undefined);
  expect(entered).toEqual(["a", "b", "c", "d"]);
});

test("conversations take turns, however many requests one of them has", () => {
  const { line, entered, add } = open({ concurrency: 1 });
  for (const id of ["hot1", "hot2", "hot3"]) add(id, "hot");
  for (const id of ["x", "y"]) add(id);
  while (entered.length < 5) line.leave(entered.at(-1) ?? "", undefined);
  expect(entered).toEqual(["hot1", "hot2", "x", "y", "hot3"]);
});

test("who does not want to wait any more is passed over", () => {
  const { line, entered, add } = open({ concurrency: 1 });
  for (const id of ["a", "b", "c"]) add(id);
  add("c2", "c");
  line.leave("b", undefined);
  line.leave("c", undefined);
  line.leave("a", undefined);
  expect(entered).toEqual(["a", "c2"]);
});

test("requests in a minute: what was saved up goes at once, the rest one by one", () => {
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

test("tokens in a minute are put right when it is known how many they were", () => {
  const { line, entered, add, pass } = open({ tokensPerMinute: 6_000 });
  add("a", "a", 5_000);
  add("b", "b", 2_000);
  expect(entered).toEqual(["a"]);
  line.leave("a", 1_000);
  expect(entered).toEqual(["a", "b"]);
  line.leave("b", 9_000);
  add("c", "c", 1_000);
  pass(49_999);
  expect(entered).toHaveLength(2);
  pass(1);
  expect(entered).toEqual(["a", "b", "c"]);
});

test("a request that is larger than a minute allows is sent when nothing else was", () => {
  const { entered, add, pass } = open({ tokensPerMinute: 100 });
  add("huge", "huge", 100_000);
  expect(entered).toEqual(["huge"]);
  add("next", "next", 1);
  pass(60_000);
  expect(entered).toEqual(["huge"]);
  pass(100_000 * 600);
  expect(entered).toEqual(["huge", "next"]);
});

test("a provider that wants nothing is left alone, and a line that is closed wakes nobody", () => {
  const { line, entered, add, pass, timers } = open({});
  line.hold(1_000);
  line.hold(500);
  add("a");
  pass(999);
  expect(entered).toEqual([]);
  pass(1);
  expect(entered).toEqual(["a"]);
  line.hold(1_000);
  add("b");
  line.close();
  expect(timers.size).toBe(0);
  pass(5_000);
  expect(entered).toEqual(["a"]);
});
