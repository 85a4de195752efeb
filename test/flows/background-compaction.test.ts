import { expect, test } from "vitest";
import type { ModelRequest } from "../../src/messages/model.js";
import type { Provider } from "../../src/providers/provider.js";
import { asksForSummary, compactingConfig, messages, saysAt, texts } from "../support/compacting.js";
import { openConversation } from "../support/open-conversation.js";
import { type Reply, says } from "../support/scripted-provider.js";

interface SlowSummaries extends Provider {
  readonly requests: ModelRequest[];
  /** Completes the oldest pending summary; waits for the request if there is none yet. */
  finish(summary: string): Promise<void>;
  /** Resolves when a summary is pending. */
  asked(): Promise<void>;
}

/** A provider that answers at once and completes summaries only when the test says so. */
function slowToSummarize(replies: readonly Reply[]): SlowSummaries {
  const requests: ModelRequest[] = [];
  const left = [...replies];
  const asked: ((summary: string) => void)[] = [];
  const finishers: (() => void)[] = [];
  const untilAsked = async (): Promise<void> => {
    while (asked.length === 0) await new Promise<void>((resolve) => finishers.push(resolve));
  };
  return {
    name: "scripted",
    requests,
    asked: untilAsked,
    finish: async (summary) => {
      await untilAsked();
      asked.shift()?.(summary);
      // The answer is read in this round of the event loop and the next.
      for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
    },
    async *stream(request, signal) {
      requests.push(request);
      if (!asksForSummary(request)) {
        yield* (left.shift() ?? []) as Exclude<Reply[number], { type: "hang" }>[];
        return;
      }
      const summary = await new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => resolve(""), { once: true });
        asked.push(resolve);
        for (const waiting of finishers.splice(0)) waiting();
      });
      if (!signal.aborted) yield* says(summary) as Exclude<Reply[number], { type: "hang" }>[];
    },
  };
}

async function openSlow(replies: readonly Reply[]) {
  const provider = slowToSummarize(replies);
  return { provider, ...(await openConversation({ provider, config: compactingConfig({ mode: "background" }) })) };
}

test("a summary is prepared from 0.6 of the window on, and applied at 0.8 without waiting", async () => {
  const { provider, conversation, events } = await openSlow([
    saysAt("one", 5900),
    saysAt("two", 6100),
    saysAt("three", 7000),
    saysAt("four", 8100),
    says("five"),
  ]);
  await conversation.processMessage("first");
  expect(provider.requests).toHaveLength(1);
  await conversation.processMessage("second");
  await provider.finish("The summary");
  await conversation.processMessage("third");
  await conversation.processMessage("fourth");
  expect(texts(conversation.getHistory())).toEqual([
    "first",
    "second",
    expect.stringMatching(/^Summary of earlier conversation:\n\nThe summary/),
    "third",
    "three",
    "fourth",
    "four",
  ]);
  await conversation.processMessage("fifth");
  expect(provider.requests.filter(asksForSummary)).toHaveLength(1);
  await events.until("compaction_end");
  expect(events.types().filter((type) => type.startsWith("compaction_"))).toEqual([
    "compaction_prepare",
    "compaction_start",
    "compaction_end",
  ]);
});

test("a prepared summary survives a sleep", async () => {
  const { provider, conversation } = await openSlow([
    saysAt("one", 5900),
    saysAt("two", 6100),
    saysAt("three", 8100),
    says("four"),
  ]);
  await conversation.processMessage("first");
  await conversation.processMessage("second");
  await provider.finish("The summary");
  await conversation.sleep();
  expect(conversation.isAwake).toBe(false);
  await conversation.processMessage("third");
  await conversation.processMessage("fourth");
  expect(texts(conversation.getHistory())).toContainEqual(expect.stringContaining("The summary"));
  expect(provider.requests.filter(asksForSummary)).toHaveLength(1);
});

test("while a summary is being made, turns continue above the limit as long as they fit", async () => {
  const { provider, conversation } = await openSlow([
    saysAt("one", 6100),
    saysAt("two", 8100),
    saysAt("three", 9000),
    says("four"),
  ]);
  await conversation.processMessage("first");
  await conversation.processMessage("second");
  await conversation.processMessage("third");
  expect(texts(conversation.getHistory())).toHaveLength(6);
  await provider.finish("The summary");
  await conversation.processMessage("fourth");
  expect(texts(provider.requests.at(-1)?.input ?? [])).toEqual([
    "first",
    expect.stringContaining("The summary"),
    "second",
    "two",
    "third",
    "three",
    "fourth",
  ]);
});

test("a summary of a history that has been replaced is not used", async () => {
  const { provider, conversation } = await openSlow([saysAt("one", 6100), saysAt("two", 8100)]);
  await conversation.processMessage("first");
  await provider.finish("The old summary");
  await conversation.replaceHistory([]);
  await conversation.processMessage("second");
  expect(texts(conversation.getHistory())).toEqual(["second", "two"]);
});

test("an interrupt does not wait for a summary that is being made", async () => {
  const { conversation, events } = await openSlow([saysAt("one", 6100), saysAt("two", 10_100)]);
  await conversation.processMessage("first");
  await conversation.processMessage("second");
  await conversation.submit("third");
  await events.until("task_complete");
  await events.until("task_complete");
  await events.until("task_started");
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
});

test("after a manual compaction the next summary is prepared again", async () => {
  const { provider, conversation } = await openSlow([saysAt("one", 6100), saysAt("two", 6200)]);
  await conversation.processMessage("first");
  const compacting = conversation.compact();
  // The manual compaction is queued behind the one being prepared.
  await provider.finish("Prepared");
  await provider.finish("By hand");
  expect(await compacting).toMatchObject({ status: "compacted", summary: "By hand" });
  await conversation.processMessage("second");
  expect(provider.requests.filter(asksForSummary)).toHaveLength(3);
});

test("a failed preparation is not reported, and the next one may succeed", async () => {
  const { provider, conversation, events } = await openSlow([saysAt("one", 6100), saysAt("two", 8100), says("three")]);
  await conversation.processMessage("first");
  await provider.finish("");
  await conversation.submit("second");
  await events.until("task_complete");
  await events.until("task_complete");
  expect(messages(events).filter(({ type }) => type === "warning")).toEqual([]);
});

test("shutting a conversation down cancels a summary that is being made", async () => {
  const { provider, manager, conversation } = await openSlow([saysAt("one", 6100)]);
  await conversation.processMessage("first");
  await provider.asked();
  await conversation.shutdown();
  await manager.shutdown();
  expect(provider.requests.filter(asksForSummary)).toHaveLength(1);
});
