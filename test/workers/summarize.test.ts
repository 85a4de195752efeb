import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { Failure } from "../../src/messages/failure.js";
import type { ModelEvent } from "../../src/messages/model.js";
import { messageText } from "../../src/messages/response-item.js";
import type { Provider } from "../../src/providers/provider.js";
import type { SummaryRequest } from "../../src/compaction/summary/request-summary.js";
import { summarize } from "../../src/workers/summarize.js";
import {
  assistant,
  beginsAndHangs,
  calls,
  fails,
  type Reply,
  says,
  scripted,
  type ScriptedProvider,
  user,
} from "../support/scripted-provider.js";

const overflow: Reply = [failed({ code: "context_overflow", message: "too long", retryable: false })];
const network = fails("network", true);

function failed(failure: Failure): Reply[number] {
  return { type: "failed", failure };
}

function limited(retryAfterMs: number): Reply {
  return [failed({ code: "rate_limit", message: "slow down", retryable: true, retryAfterMs })];
}

function asking(count: number): SummaryRequest {
  const items = Array.from({ length: count }, (_, index) => (index % 2 === 0 ? user : assistant)(`item ${index}`));
  return {
    conversationId: "c",
    model: "gpt-5",
    instructions: "be brief",
    items,
    prompt: "Summarize this",
    effort: "low",
    maxBytes: 10_000,
  };
}

/** Summarizes `count` items with these replies; waits take no time and are recorded. */
async function play(replies: Iterable<Reply>, count = 6) {
  const provider = scripted(replies);
  const waits: number[] = [];
  const { signal } = new AbortController();
  const pause = async (ms: number) => {
    waits.push(ms);
    return true;
  };
  const outcome = await summarize(provider, asking(count), { signal, pause, random: () => 0 });
  expect(getEventListeners(signal, "abort")).toEqual([]);
  return { outcome, waits, sizes: sizesOf(provider), requests: provider.requests };
}

/** How many items each request had besides the prompt. */
function sizesOf({ requests }: ScriptedProvider): number[] {
  return requests.map(({ input }) => input.length - 1);
}

function* always(reply: Reply): Generator<Reply> {
  for (;;) yield reply;
}

async function* endless(): AsyncGenerator<ModelEvent> {
  for (;;) yield { type: "text_delta", itemId: "s", delta: "and so on " };
}

test("an endless answer is stopped at its byte limit and not retried", async () => {
  let asked = 0;
  let told: AbortSignal | undefined;
  const stream: Provider["stream"] = (_request, signal) => {
    asked += 1;
    told = signal;
    return endless();
  };
  const { signal } = new AbortController();
  const outcome = await summarize({ name: "endless", stream }, asking(2), { signal });
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "limit_reached" } });
  expect(asked).toBe(1);
  expect(told?.aborted).toBe(true);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("one request without tools: the items, followed by the prompt", async () => {
  const { outcome, requests } = await play([says("  What was said.\n")], 2);
  expect(outcome).toEqual({
    status: "done",
    text: "What was said.",
    truncatedCount: 0,
    usage: expect.objectContaining({ total_tokens: 15 }),
  });
  expect(requests).toEqual([
    {
      conversationId: "c",
      model: "gpt-5",
      instructions: "be brief",
      input: [user("item 0"), assistant("item 1"), user("Summarize this")],
      tools: [],
      effort: "low",
      maxOutputTokens: 4_096,
    },
  ]);
});

describe("an answer", () => {
  test("that has text and tool calls is its text", async () => {
    const [call] = calls("shell", "call_1", { command: ["rm", "-r", "/"] });
    const { outcome } = await play([[...(call === undefined ? [] : [call]), ...says("Words")]]);
    expect(outcome).toMatchObject({ status: "done", text: "Words" });
  });

  test("that has only tool calls is empty", async () => {
    expect((await play([calls("shell", "call_1")])).outcome).toMatchObject({ status: "done", text: "" });
  });

  test("without text is empty", async () => {
    expect((await play([[{ type: "done", finishReason: "length" }]])).outcome).toEqual({
      status: "done",
      text: "",
      truncatedCount: 0,
      usage: undefined,
    });
  });

  test("in several messages is all of them", async () => {
    const reply: Reply = [...says("One").slice(0, -1), ...says("Two")];
    expect((await play([reply])).outcome).toMatchObject({ text: "One\nTwo" });
  });

  test("that breaks off is discarded and retried", async () => {
    const cut = says("Half of").slice(0, -1);
    const { outcome, waits } = await play([cut, says("Whole")]);
    expect(outcome).toMatchObject({ status: "done", text: "Whole" });
    expect(waits).toEqual([250]);
  });
});

describe("when the items do not fit", () => {
  test("the first two times the oldest item is left out", async () => {
    const { outcome, sizes, requests } = await play([overflow, overflow, says("Fits")]);
    expect(outcome).toMatchObject({ status: "done", text: "Fits", truncatedCount: 2 });
    expect(sizes).toEqual([6, 5, 4]);
    const texts = requests.at(-1)?.input.map((item) => (item.type === "message" ? messageText(item) : ""));
    expect(texts).toEqual(["item 2", "item 3", "item 4", "item 5", "Summarize this"]);
  });

  test("after that the older half is left out", async () => {
    const { outcome, sizes } = await play([overflow, overflow, overflow, overflow, says("Fits")], 21);
    expect(outcome).toMatchObject({ status: "done", truncatedCount: 16 });
    expect(sizes).toEqual([21, 20, 19, 10, 5]);
  });

  test.each([0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 66, 67, 999, 1_000, 1_024, 1_025, 10_000])(
    "%i items that never fit end after few requests",
    async (count) => {
      const { outcome, sizes, waits } = await play(always(overflow), count);
      expect(outcome).toEqual({ status: "too_large", truncatedCount: Math.max(count - 1, 0) });
      expect(sizes.length).toBeLessThanOrEqual(Math.ceil(Math.log2(Math.max(count, 1))) + 3);
      expect(sizes.at(-1)).toBe(Math.min(count, 1));
      expect(waits).toEqual([]);
    },
  );
});

describe("retries", () => {
  test("five times, each time after a longer wait", async () => {
    const { outcome, waits, sizes } = await play(always(network), 3);
    expect(outcome).toMatchObject({ status: "failed", failure: { code: "network" }, truncatedCount: 0 });
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000]);
    expect(sizes).toEqual([3, 3, 3, 3, 3, 3]);
  });

  test("after the time the server asks for, up to a minute", async () => {
    const { outcome, waits } = await play([limited(0), limited(3_000), limited(86_400_000), network, says("Late")]);
    expect(outcome).toMatchObject({ status: "done", text: "Late" });
    expect(waits).toEqual([0, 3_000, 60_000, 2_000]);
  });

  test("after a short wait again once the server has answered, and five times in all", async () => {
    const { outcome, waits } = await play([network, network, overflow, ...Array<Reply>(4).fill(network)]);
    expect(outcome).toMatchObject({ status: "failed", truncatedCount: 1 });
    expect(waits).toEqual([250, 500, 250, 500, 1_000]);
  });

  test("not after a permanent failure", async () => {
    const { outcome, waits } = await play([fails("auth", false)]);
    const failure = { code: "auth", message: "the model failed: auth", retryable: false };
    expect(outcome).toEqual({ status: "failed", failure, truncatedCount: 0 });
    expect(waits).toEqual([]);
  });
});

describe("a misbehaving provider", () => {
  const { signal } = new AbortController();

  test.each<[string, Provider["stream"]]>([
    [
      "throws at once",
      () => {
        throw new Error("a bug");
      },
    ],
    [
      "throws in its stream",
      async function* () {
        yield { type: "text_delta", itemId: "item", delta: "Half" };
        throw new Error("a bug");
      },
    ],
    ["gives no event", () => stating([undefined])],
    ["gives an item without content", () => stating([{ type: "item", item: { type: "message", role: "assistant" } }])],
  ])("%s", async (_name, stream) => {
    const outcome = await summarize({ name: "broken", stream }, asking(2), { signal });
    expect(outcome).toMatchObject({ status: "failed", failure: { code: "unknown", retryable: false } });
  });
});

/** A stream with values that plain JavaScript may yield. */
async function* stating(values: readonly unknown[]): AsyncGenerator<ModelEvent> {
  yield* values as ModelEvent[];
}

describe("an abort", () => {
  const hung: Provider = {
    name: "hung",
    stream: () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: () => new Promise(() => undefined),
      }),
    }),
  };

  test("ends the wait for a stream that hangs and cannot be closed", async () => {
    const controller = new AbortController();
    const waiting = summarize(hung, asking(2), controller);
    controller.abort();
    expect(await waiting).toEqual({ status: "aborted" });
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("in the middle of an answer ends it", async () => {
    const controller = new AbortController();
    const provider = scripted([beginsAndHangs("Half")]);
    const waiting = summarize(provider, asking(2), controller);
    setImmediate(() => controller.abort());
    expect(await waiting).toEqual({ status: "aborted" });
  });

  test("ends the wait before the next try", async () => {
    const controller = new AbortController();
    const slow = failed({ code: "overloaded", message: "busy", retryable: true, retryAfterMs: 60_000 });
    const provider = scripted([[slow]]);
    const waiting = summarize(provider, asking(2), controller);
    setImmediate(() => controller.abort());
    expect(await waiting).toEqual({ status: "aborted" });
    expect(provider.requests).toHaveLength(1);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("before the start sends no request", async () => {
    const provider = scripted([]);
    expect(await summarize(provider, asking(2), { signal: AbortSignal.abort() })).toEqual({ status: "aborted" });
    expect(provider.requests).toEqual([]);
  });
});
