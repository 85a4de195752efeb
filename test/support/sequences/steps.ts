import * as fc from "fast-check";
import { places } from "./places.js";

/** The moment of a turn at which something happens. */
export const moments = ["asked", "streaming", "in_tool", "awaiting_approval"] as const;
export type Moment = (typeof moments)[number];

const answer = fc.constantFrom("plain", "blank", "ends in blanks", "half a character", "nothing");
export type AnswerKind = "plain" | "blank" | "ends in blanks" | "half a character" | "nothing";

const call = fc.constantFrom(
  "approved",
  "denied",
  "failing",
  "broken arguments",
  "no object",
  "unknown tool",
  "odd id",
  "same id",
  "plain text",
  "text for arguments",
);
export type CallKind =
  | "approved"
  | "denied"
  | "failing"
  | "broken arguments"
  | "no object"
  | "unknown tool"
  | "odd id"
  | "same id"
  | "plain text"
  | "text for arguments";

const cut = fc.constantFrom("close", "reset", "no end", "error event", "garbage", "two ends");
export type CutKind = "close" | "reset" | "no end" | "error event" | "garbage" | "two ends";

const refusal = fc.constantFrom(429 as const, 500 as const, 529 as const, "overflow" as const);

const thinks = fc.boolean();
const kind = <T extends string>(name: T) => fc.constant(name);

const talk = fc.record({ kind: kind("talk"), thinks, answer });
const work = fc.record({ kind: kind("work"), thinks, says: fc.boolean(), calls: fc.tuple(call, call) });
const show = fc.record({ kind: kind("show"), image: fc.constantFrom("png", "address", "bmp") });
const interrupt = fc.record({ kind: kind("interrupt"), thinks, when: fc.constantFrom(...moments), deltas: fc.nat(8) });
const cutOff = fc.record({ kind: kind("cut"), thinks, cut, inCalls: fc.boolean(), place: fc.nat(99) });
const refused = fc.record({ kind: kind("refused"), by: refusal, times: fc.integer({ min: 1, max: 4 }) });
const crash = fc.record({
  kind: kind("crash"),
  when: fc.constantFrom("idle", ...moments),
  /** The percentage of unacknowledged bytes that survives; above 100, half a line is added. */
  left: fc.nat(150),
  thinks,
});
const killed = fc.record({ kind: kind("killed"), thinks, reports: fc.nat(14) });
const reopen = fc.record({ kind: kind("reopen") });
const compact = fc.record({ kind: kind("compact"), strategy: fc.constantFrom("codex", "recent-turns", "user-only") });
const undo = fc.record({ kind: kind("undo") });
const fill = fc.record({ kind: kind("fill"), calls: fc.boolean() });
const fork = fc.record({ kind: kind("fork"), back: fc.nat(2), place: fc.nat(places.length - 1) });
const model = fc.record({ kind: kind("model"), place: fc.nat(places.length - 1) });
const queue = fc.record({ kind: kind("queue"), interrupted: fc.boolean() });
const pin = fc.record({ kind: kind("pin") });
/** Removes every `every`th item, whatever it belongs to. */
const lose = fc.record({ kind: kind("lose"), every: fc.integer({ min: 2, max: 5 }), from: fc.nat(4) });
const change = fc.record({ kind: kind("switch"), place: fc.nat(places.length - 1) });

/** One operation on a conversation. */
export const step = fc.oneof(
  { arbitrary: talk, weight: 3 },
  { arbitrary: work, weight: 6 },
  { arbitrary: show, weight: 2 },
  { arbitrary: interrupt, weight: 5 },
  { arbitrary: cutOff, weight: 5 },
  { arbitrary: refused, weight: 2 },
  { arbitrary: crash, weight: 5 },
  { arbitrary: reopen, weight: 1 },
  { arbitrary: compact, weight: 3 },
  { arbitrary: undo, weight: 1 },
  { arbitrary: fill, weight: 2 },
  { arbitrary: fork, weight: 2 },
  { arbitrary: change, weight: 7 },
  { arbitrary: model, weight: 2 },
  { arbitrary: queue, weight: 1 },
  { arbitrary: pin, weight: 1 },
  { arbitrary: lose, weight: 2 },
);
export type Step = (typeof step extends fc.Arbitrary<infer T> ? T : never) | KilledStep;
export type KilledStep = typeof killed extends fc.Arbitrary<infer T> ? T : never;

/** Killing a real process takes long, because it has to start, so only one in this many sequences does it. */
const oneIn = 20;

/** The model a conversation starts with and the operations on it. */
export const sequence = fc.record({
  begins: fc.nat(places.length - 1),
  steps: fc.oneof(
    { arbitrary: fc.array(step, { minLength: 2, maxLength: 9 }), weight: oneIn - 1 },
    {
      arbitrary: fc
        .tuple(fc.array(step, { minLength: 1, maxLength: 4 }), killed, fc.array(step, { maxLength: 4 }))
        .map(([before, kill, after]): Step[] => [...before, kill, ...after]),
      weight: 1,
    },
  ),
});
export interface Sequence {
  readonly begins: number;
  readonly steps: readonly Step[];
}
