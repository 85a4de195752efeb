import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { anyHistory } from "../providers/normalize/histories.js";
import {
  agents,
  assistant,
  call,
  developer,
  environment,
  ghost,
  output,
  pinned,
  summary,
  thought,
  user,
  words,
} from "./items.js";

/** Mostly short texts, sometimes longer than a target. */
const size = fc.oneof({ arbitrary: fc.nat({ max: 20 }), weight: 6 }, { arbitrary: fc.nat({ max: 300 }), weight: 1 });

interface Step {
  readonly thinks: boolean;
  readonly says: boolean;
  readonly sizes: readonly number[];
  readonly order: "in order" | "backwards" | "last missing";
  readonly ghost: boolean;
}

const step = fc.record<Step>({
  thinks: fc.boolean(),
  says: fc.boolean(),
  sizes: fc.array(size, { minLength: 1, maxLength: 3 }),
  order: fc.constantFrom("in order", "in order", "backwards", "last missing"),
  ghost: fc.boolean(),
});

const extra = fc.constantFrom(
  "none",
  "none",
  "none",
  "pin",
  "summary",
  "agents",
  "environment",
  "developer",
  "aborted",
);

const turn = fc.record({
  before: extra,
  asks: fc.array(size, { minLength: 1, maxLength: 2 }),
  steps: fc.array(step, { maxLength: 4 }),
  answers: fc.boolean(),
  lost: fc.nat({ max: 9 }),
});

/** Realistic histories with parallel calls, reasoning, snapshots, pins, summaries, new context and lost outputs. */
export const conversations: Arbitrary<ResponseItem[]> = fc.array(turn, { maxLength: 7 }).map((turns) => {
  let made = 0;
  const text = (what: string, tokens = 0) => `${what} ${++made} ${words(tokens)}`;
  return turns.flatMap(({ before, asks, steps, answers, lost }) => [
    ...extraItem(before, text(before)),
    ...asks.map((tokens) => user(text("request", tokens))),
    ...steps.flatMap((one) => stepItems(one, text)),
    ...(lost === 0 ? [output(text("lost"))] : []),
    ...(answers ? [thought(text("thought")), assistant(text("answer"))] : []),
  ]);
});

function extraItem(kind: string, text: string): ResponseItem[] {
  if (kind === "pin") return [pinned(text)];
  if (kind === "summary") return [summary(`Summary of earlier conversation:\n\n${text}`)];
  if (kind === "agents") return [agents(text)];
  if (kind === "environment") return [environment(text)];
  if (kind === "developer") return [developer(text)];
  return kind === "aborted" ? [user(`<turn_aborted>${text}</turn_aborted>`)] : [];
}

function stepItems({ thinks, says, sizes, order, ghost: snaps }: Step, text: Text): ResponseItem[] {
  const calls = sizes.map((tokens) => ({ id: text("call"), tokens }));
  const outputs = calls.map(({ id, tokens }) => output(id, text("did", tokens)));
  return [
    ...(snaps ? [ghost(text("ghost"))] : []),
    ...(thinks ? [thought(text("thought"))] : []),
    ...(says ? [assistant(text("words"))] : []),
    ...calls.map(({ id }) => call(id)),
    ...(order === "backwards" ? outputs.toReversed() : order === "last missing" ? outputs.slice(0, -1) : outputs),
  ];
}

type Text = (what: string, tokens?: number) => string;

/** Realistic histories, and items of every type in any order. */
export const histories: Arbitrary<ResponseItem[]> = fc.oneof(
  { arbitrary: conversations, weight: 3 },
  { arbitrary: anyHistory, weight: 1 },
);
