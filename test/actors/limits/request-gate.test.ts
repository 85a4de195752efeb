import { expect, test } from "vitest";
import { openGate, openGates } from "../../support/open-gate.js";

const never = new AbortController().signal;
const request = { provider: "lab", conversationId: "c", tokens: () => 1 };

function uncounted(): number {
  throw new Error("nobody needs to know");
}

test("requests to a provider without limits do not wait, and their tokens are not counted", async () => {
  const gate = openGate({ lab: { concurrency: 1 } });
  expect(gate.isLimited("other")).toBe(false);
  for (let n = 0; n < 3; n += 1) {
    expect(await gate.enter({ provider: "other", conversationId: "c", tokens: uncounted }, never)).toBeDefined();
  }
});

test("an aborted request passes its slot to the next, even if it is aborted right after it entered", async () => {
  const gate = openGate({ lab: { concurrency: 1 } });
  const first = await gate.enter(request, never);
  const givesUp = new AbortController();
  const second = gate.enter(request, givesUp.signal);
  const third = gate.enter({ ...request, conversationId: "d" }, never);
  givesUp.abort();
  expect(await second).toBeUndefined();
  first?.release(undefined);
  const passage = await third;
  expect(passage).toBeDefined();
  const late = new AbortController();
  const fourth = gate.enter(request, late.signal);
  passage?.release(undefined);
  late.abort();
  await fourth;
  expect(await gate.enter(request, never)).toBeDefined();
});

test("a rate limit with retry-after delays all requests to the provider, one without it does not", async () => {
  const gate = openGate({});
  gate.noteFailure("lab", { code: "rate_limit", message: "busy", retryable: true });
  gate.noteFailure("lab", { code: "auth", message: "no", retryable: false, retryAfterMs: 1_000 });
  expect(gate.isLimited("lab")).toBe(false);
  gate.noteFailure("lab", { code: "rate_limit", message: "busy", retryable: true, retryAfterMs: 50 });
  expect(gate.isLimited("lab")).toBe(true);
  const order: string[] = [];
  const entering = gate.enter(request, never).then(() => order.push("entered"));
  await gate.enter({ ...request, provider: "other" }, never).then(() => order.push("other"));
  await entering;
  expect(order).toEqual(["other", "entered"]);
});

test("when the limits actor has stopped, all requests are let through", async () => {
  const { ref, gates } = openGates({ lab: { concurrency: 1 } }, ["main"]);
  const [gate] = gates;
  await gate.enter(request, never);
  const waiting = gate.enter(request, never);
  await ref.stop();
  expect(await waiting).toBeDefined();
  gate.hold("lab", 1_000);
});

test("a pause that one thread was asked for delays the requests of the others", async () => {
  const { ref, gates } = openGates({}, ["main", "shard 1"]);
  const [main, shard] = gates;
  main.hold("lab", 50);
  // Every message is handled before this one.
  await ref.ask({ type: "client_gone", client: "nobody" });
  expect(shard.isLimited("lab")).toBe(true);
  expect(shard.limited).toEqual(["lab"]);
});

test("the threads share one limit, and a request of one never leaves for a request of another", async () => {
  const { gates } = openGates({ lab: { concurrency: 2 } }, ["main", "shard 1"]);
  const [main, shard] = gates;
  const first = await main.enter(request, never);
  const second = await shard.enter(request, never);
  const entered: string[] = [];
  const third = main.enter(request, never).then(() => entered.push("third"));
  const fourth = shard.enter({ ...request, conversationId: "d" }, never).then(() => entered.push("fourth"));
  first?.release(undefined);
  await third;
  expect(entered).toEqual(["third"]);
  second?.release(undefined);
  await fourth;
});

test("when a thread has died, its running and waiting requests make room for the others", async () => {
  const { ref, gates } = openGates({ lab: { concurrency: 1 } }, ["main", "shard 1"]);
  const [main, shard] = gates;
  await shard.enter(request, never);
  void shard.enter({ ...request, conversationId: "d" }, never);
  const waiting = main.enter({ ...request, conversationId: "e" }, never);
  await ref.ask({ type: "client_gone", client: "shard 1" });
  const permit = await waiting;
  expect(permit).toBeDefined();
  permit?.release(undefined);
  expect(await main.enter(request, never)).toBeDefined();
});
