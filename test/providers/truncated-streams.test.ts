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

interface Seen {
  readonly text: string;
  readonly reasoning: string;
  readonly items: readonly ResponseItem[];
  readonly last: ModelEvent | undefined;
}

describe.each(wireApis)("over $api", (wire) => {
  const requestFor = (text: string) => ({ ...requestOf([user(text)], ["note"]), model: wire.model, effort: "high" });

  test.each(faults)(
    "%s at every byte: complete items are reported, then one failure",
    async (fault) => {
      const { every, lanes } = truncation.streams[fault];
      const stream = await recordStream(wire, requestFor("Note both"));
      const server = await serveCuts(stream);
      const patient = modelAt(wire, server.url);
      const whole = seenIn(
        await collect(
          patient.stream(requestFor(cutRequestText("end", stream.bytes.length)), new AbortController().signal),
        ),
      );
      expect(stream.bytes.length).toBeGreaterThan(5_000);
      expect(whole.items.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "function_call"]);
      expect(whole.last).toEqual({ type: "done", finishReason: "tool_calls" });

      const model = cutModelAt(wire, server.url, fault);
      const offsets = offsetsOf(stream, every);
      const problems: string[] = [];
      const lengths = new Map<number, number>();
      const lengthAt = (offset: number): number => lengths.get(offset) ?? 0;
      await forEachConcurrently(offsets, lanes, async (offset) => {
        try {
          const events = await collect(
            model.stream(requestFor(cutRequestText(fault, offset)), new AbortController().signal),
          );
          const seen = seenIn(events);
          lengths.set(offset, seen.text.length + seen.reasoning.length + seen.items.length);
          const problem = problemOf(events, whole, fault, offset >= stream.completeAt);
          if (problem !== undefined) problems.push(`at byte ${offset}: ${problem}`);
        } catch (error) {
          problems.push(`at byte ${offset}: threw ${String(error)}`);
        }
        server.requests.length = 0;
      });
      summarize(`${wire.api}: ${fault} at ${offsets.length} of ${stream.bytes.length + 1} offsets`);
      // A cleanly ended stream loses nothing in transit, so more bytes never report less.
      const losses = offsets.filter((offset, index) => lengthAt(offset) < lengthAt(offsets[index - 1] ?? 0));
      if (fault === "end") problems.push(...losses.map((offset) => `at byte ${offset}: less than before`));
      expect(problems).toEqual([]);
    },
    truncation.timeoutMs,
  );
});

function seenIn(events: readonly ModelEvent[]): Seen {
  const deltas = (type: ModelEvent["type"]) =>
    events.map((event) => (event.type === type && "delta" in event ? event.delta : ""));
  return {
    text: deltas("text_delta").join(""),
    reasoning: deltas("reasoning_delta").join(""),
    items: events.flatMap((event) => (event.type === "item" ? [event.item] : [])),
    last: events.at(-1),
  };
}

/** The first problem in the events of a truncated stream, or undefined. */
function problemOf(events: readonly ModelEvent[], whole: Seen, fault: Fault, isComplete: boolean): string | undefined {
  const seen = seenIn(events);
  const { last } = seen;
  if (events.filter(({ type }) => type === "done" || type === "failed").length !== 1) return "it did not end once";
  if (!whole.text.startsWith(seen.text)) return `other text: ${seen.text}`;
  if (!whole.reasoning.startsWith(seen.reasoning)) return `other thoughts: ${seen.reasoning}`;
  if (!isDeepStrictEqual(seen.items, whole.items.slice(0, seen.items.length))) {
    return `other items: ${JSON.stringify(seen.items)}`;
  }
  if (last?.type === "done") {
    if (!isComplete) return "done before the end";
    return isDeepStrictEqual(seen, whole) ? undefined : "done without all of it";
  }
  if (last?.type !== "failed") return `ended with ${String(last?.type)}`;
  // A reset may discard bytes already sent, and on a busy machine they may arrive after the timeout.
  if (isComplete && fault === "end") return "failed although it was complete";
  const code = fault === "stall" ? "timeout" : "network";
  const isRight = last.failure.code === code && last.failure.retryable;
  return isRight ? undefined : `failed with ${JSON.stringify(last.failure)}`;
}
