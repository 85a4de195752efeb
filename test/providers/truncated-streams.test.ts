import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../src/messages/model.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { truncation, summarize } from "../crash/rounds.js";
import {
  cutModelAt,
  cutRequestText,
  type Fault,
  faults,
  forEachConcurrently,
  modelAt,
  offsetsOf,
  recordStream,
  serveCuts,
} from "../support/truncated-streams.js";
import { wireApis } from "../support/wire-apis.js";
import { collect, requestOf, user } from "./requests.js";

interface Told {
  readonly text: string;
  readonly reasoning: string;
  readonly items: readonly ResponseItem[];
  readonly last: ModelEvent | undefined;
}

describe.each(wireApis)("over $api", (spoken) => {
  const requestFor = (text: string) => ({ ...requestOf([user(text)], ["note"]), model: spoken.model, effort: "high" });

  test.each(faults)(
    "%s at every byte: what was whole is told, and how it ended",
    async (fault) => {
      const { every, lanes } = truncation.streams[fault];
      const stream = await recordStream(spoken, requestFor("Note both"));
      const server = await serveCuts(stream);
      const patient = modelAt(spoken, server.url);
      const whole = toldBy(
        await collect(
          patient.stream(requestFor(cutRequestText("end", stream.bytes.length)), new AbortController().signal),
        ),
      );
      expect(stream.bytes.length).toBeGreaterThan(5_000);
      expect(whole.items.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "function_call"]);
      expect(whole.last).toEqual({ type: "done", finishReason: "tool_calls" });

      const model = cutModelAt(spoken, server.url, fault);
      const offsets = offsetsOf(stream, every);
      const problems: string[] = [];
      const lengths = new Map<number, number>();
      const lengthAt = (offset: number): number => lengths.get(offset) ?? 0;
      await forEachConcurrently(offsets, lanes, async (offset) => {
        try {
          const events = await collect(
            model.stream(requestFor(cutRequestText(fault, offset)), new AbortController().signal),
          );
          const told = toldBy(events);
          lengths.set(offset, told.text.length + told.reasoning.length + told.items.length);
          const problem = problemOf(events, whole, fault, offset >= stream.completeAt);
          if (problem !== undefined) problems.push(`at byte ${offset}: ${problem}`);
        } catch (error) {
          problems.push(`at byte ${offset}: threw ${String(error)}`);
        }
        server.requests.length = 0;
      });
      summarize(`${spoken.api}: ${fault} at ${offsets.length} of ${stream.bytes.length + 1} offsets`);
      // Where nothing is lost on the way, more bytes never tell less.
      const losses = offsets.filter((offset, index) => lengthAt(offset) < lengthAt(offsets[index - 1] ?? 0));
      if (fault === "end") problems.push(...losses.map((offset) => `at byte ${offset}: less than before`));
      expect(problems).toEqual([]);
    },
    truncation.timeoutMs,
  );
});

function toldBy(events: readonly ModelEvent[]): Told {
  const deltas = (type: ModelEvent["type"]) =>
    events.map((event) => (event.type === type && "delta" in event ? event.delta : ""));
  return {
    text: deltas("text_delta").join(""),
    reasoning: deltas("reasoning_delta").join(""),
    items: events.flatMap((event) => (event.type === "item" ? [event.item] : [])),
    last: events.at(-1),
  };
}

/** What is wrong with what was told of a part of the answer. */
function problemOf(events: readonly ModelEvent[], whole: Told, fault: Fault, isComplete: boolean): string | undefined {
  const told = toldBy(events);
  const { last } = told;
  if (events.filter(({ type }) => type === "done" || type === "failed").length !== 1) return "it did not end once";
  if (!whole.text.startsWith(told.text)) return `other text: ${told.text}`;
  if (!whole.reasoning.startsWith(told.reasoning)) return `other thoughts: ${told.reasoning}`;
  if (!isDeepStrictEqual(told.items, whole.items.slice(0, told.items.length))) {
    return `other items: ${JSON.stringify(told.items)}`;
  }
  if (last?.type === "done") {
    if (!isComplete) return "done before the end";
    return isDeepStrictEqual(told, whole) ? undefined : "done without all of it";
  }
  if (last?.type !== "failed") return `ended with ${String(last?.type)}`;
  // A reset may take along what was sent, and on a busy machine what was sent may come too late.
  if (isComplete && fault === "end") return "failed although it was complete";
  const code = fault === "stall" ? "timeout" : "network";
  const isRight = last.failure.code === code && last.failure.retryable;
  return isRight ? undefined : `failed with ${JSON.stringify(last.failure)}`;
}
