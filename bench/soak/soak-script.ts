import type { WireApi } from "../../src/messages/settings/config.js";
import type { MockFault, MockReply, MockScript } from "../../src/mock-llm/script.js";
import { seeded, shuffled } from "./random.js";

const deltas = 50;
/** Deltas are counted by their letters, because a slow reader receives merged deltas. */
export const lettersPerDelta = 2;
/** One answer in this many has a fault. */
const faultEvery = 100;
const fastestMs = 5;
const slowestMs = 20;
const seeds: Readonly<Record<WireApi, number>> = { responses: 1, chat: 2, messages: 3 };
/** An offset in the answer after which some text was sent; Responses sends many bytes before the text. */
const midBytes: Readonly<Record<WireApi, number>> = { responses: 9_000, chat: 4_000, messages: 3_000 };

const text = Array.from({ length: deltas }, (_, index) => `${String.fromCodePoint(97 + (index % 26))} `).join("");

const faultsOf = (api: WireApi): readonly MockFault[] => [
  { type: "status", status: 429, retryAfter: 1 },
  { type: "status", status: 500 },
  { type: "status", status: api === "messages" ? 529 : 503 },
  { type: "overflow" },
  { type: "disconnect", afterBytes: 0 },
  { type: "disconnect", afterBytes: 1 },
  { type: "disconnect", afterBytes: midBytes[api] },
  { type: "disconnect", afterBytes: midBytes[api], reset: true },
  { type: "stall" },
  { type: "stall", afterBytes: midBytes[api] },
  { type: "garbage", as: "body" },
  { type: "garbage", as: "event" },
  { type: "cut" },
  { type: "duplicate_terminal" },
  { type: "ping_only" },
  { type: "error_event" },
  { type: "error_event", afterDeltas: deltas / 2 },
];

/** A script with every fault once, each among a hundred answers of random pace, then repeated. */
export function soakScript(api: WireApi): MockScript {
  const next = seeded(seeds[api]);
  const replies = shuffled(faultsOf(api), next).flatMap((fault) => {
    const at = next(faultEvery);
    return Array.from({ length: faultEvery }, (_, index): MockReply => {
      const delayMs = fastestMs + next(slowestMs - fastestMs + 1);
      return { text, deltas, delayMs, ...(index === at ? { fault } : {}) };
    });
  });
  return { replies, afterLast: "repeat" };
}
