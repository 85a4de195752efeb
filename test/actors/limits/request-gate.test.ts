import { expect, onTestFinished, test } from "vitest";
import { RequestGate } from "../../../src/actors/limits/limits.js";
import type { RequestLimits } from "../../../src/messages/config.js";

const never = new AbortController().signal;
const request = { provider: "lab", conversationId: "c", tokens: () => 1 };

function open(limits: Readonly<Record<string, RequestLimits>>): RequestGate {
  const gate = new RequestGate(limits);
  onTestFinished(() => gate.stop());
  return gate;
}

function uncounted(): number {
  throw new Error("nobody needs to know");
}

test("requests to a provider without limits do not wait, and their tokens are not counted", async () => {
  const gate = open({ lab: { concurrency: 1 } });
  expect(gate.isLimited("other")).toBe(false);
  for (let n = 0; n < 3; n += 1) {
    expect(await gate.enter({ provider: "other", conversationId: "c", tokens: uncounted }, never)).toBeDefined();
  }
});

test("an aborted request passes its slot to the next, even if it is aborted right after it entered", async () => {
  const gate = open({ lab: { concurrency: 1 } });
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
  const gate = open({});
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

test("a closed gate lets all requests through", async () => {
  const gate = new RequestGate({ lab: { concurrency: 1 } });
  await gate.enter(request, never);
  const waiting = gate.enter(request, never);
  await gate.stop();
  expect(await waiting).toBeDefined();
  gate.hold("lab", 1_000);
});
