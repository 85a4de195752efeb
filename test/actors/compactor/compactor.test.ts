import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { compactor, type CompactorOptions } from "../../../src/actors/compactor/compactor.js";
import type { SummaryProvider } from "../../../src/actors/compactor/summarizer.js";
import { openGate } from "../../support/open-gate.js";
import { spawn } from "../../../src/actors/runtime/spawn.js";
import { Deferred } from "../../../src/base/time/waiting.js";
import { replacementItems } from "../../../src/compaction/build-compaction.js";
import { strategies } from "../../../src/compaction/strategy-for.js";
import { TokenEstimates } from "../../../src/compaction/tokens/token-estimates.js";
import { effectiveGroup } from "../../../src/config/settings/effective-settings.js";
import type {
  CompactionResult,
  CompactorEvent,
  ContextFacts,
  HistorySource,
} from "../../../src/messages/actors/compactor.js";
import type { Provider } from "../../../src/providers/provider.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import type { OwnLine } from "../../../src/messages/rollout-line.js";
import { openCpuPool } from "../../../src/workers/cpu-pool.js";
import { openIoPool } from "../../../src/workers/io-pool.js";
import { texts } from "../../support/compacting.js";
import { assistant, fails, type Reply, says, scripted, user } from "../../support/scripted-provider.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const context: ContextFacts = {
  model: "gpt-4o",
  window: 10_000,
  isAssumedWindow: false,
  limit: 8_000,
  overhead: 100,
  ratio: 1,
};

const target = { provider: "scripted", model: "gpt-4o", effort: null };
const summary = { target, systemPrompt: "Be brief.", maxBytes: 10_000 };
const long = user("word ".repeat(1_000));
const talk: ResponseItem[] = [user("first"), assistant("one"), user("second"), assistant("two")];

/** A request about a history of one conversation. */
function about(items: readonly ResponseItem[] | HistorySource, change: Partial<Message> = {}): Message {
  const history: HistorySource = "kind" in items ? items : { kind: "items", items: [...items] };
  return { conversationId: "c", generation: 0, history, context, ...change };
}

interface Message {
  readonly conversationId: string;
  readonly generation: number;
  readonly history: HistorySource;
  readonly context: ContextFacts;
}

const wish = {
  type: "summarize",
  summary,
  trigger: "manual",
  isUrgent: false,
  usesPrepared: false,
  files: { readFiles: [], modifiedFiles: [] },
} as const;

/** A compactor with real pools and its events; closed when the test ends. */
function open(replies: Iterable<Reply> = [], options: Partial<CompactorOptions> = {}) {
  const [cpu, io] = [openCpuPool(), openIoPool()];
  const provider = scripted(replies);
  const summarizer: SummaryProvider = { kind: "provider", provider };
  const events: CompactorEvent[] = [];
  const waiting: (() => void)[] = [];
  const ref = spawn(
    compactor,
    {
      cpu,
      io,
      gate: openGate({}),
      retry: { maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1 },
      estimates: new TokenEstimates(),
      strategies,
      settings: effectiveGroup({}, "compaction"),
      provider: () => summarizer,
      facts: () => undefined,
      ...options,
    },
    {
      onEvent: ({ msg }) => {
        events.push(msg);
        for (const wake of waiting.splice(0)) wake();
      },
    },
  );
  onTestFinished(async () => {
    await ref.stop();
    await Promise.all([cpu.close(), io.close()]);
  });
  const next = async (): Promise<CompactorEvent | undefined> => {
    while (events.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    return events.shift();
  };
  return { ref, provider, events, next };
}

function compacted(result: CompactionResult, history: readonly ResponseItem[]): string[] {
  return result.status === "compacted" ? texts(replacementItems(result, history)) : [];
}

describe("counting", () => {
  test("reports the exact tokens of the items since the provider's count, and of the whole request", async () => {
    const { ref, next } = open();
    const reported = { tokens: 500, items: 1 };
    await ref.tell({ type: "count", ...about([user("Hi"), long]), context: { ...context, ratio: 2, reported } });
    expect(await next()).toEqual({
      type: "counted",
      conversationId: "c",
      generation: 0,
      model: "gpt-4o",
      from: 1,
      items: 2,
      added: 1_001,
      tokens: 2_502,
    });
  });

  test("a count of an older generation is not reported", async () => {
    const { ref, next } = open();
    await ref.tell({ type: "count", ...about([long, long], { generation: 2 }) });
    await ref.tell({ type: "count", ...about([long], { generation: 1 }) });
    await ref.tell({ type: "count", ...about([long], { generation: 3 }) });
    expect(await next()).toMatchObject({ generation: 3, items: 1, tokens: 1_101 });
  });

  test("a plan is made with exact counts where they matter", async () => {
    const { ref } = open();
    const items = [user("a"), assistant("x".repeat(36_000))];
    const plan = await ref.ask({ type: "plan", ...about(items), isMeasured: true });
    expect(plan).toMatchObject({ status: "planned", strategy: "codex", cut: 2, needsSummary: true });
    expect(plan.status === "planned" && plan.tokensBefore).toBeLessThan(6_000);
    const estimated = await ref.ask({ type: "plan", ...about(items, { generation: 1 }) });
    expect(estimated).toMatchObject({ status: "planned", cut: 2, tokensBefore: 9_101 });
  });

  test("the size of every item is answered with the tokens of the whole request", async () => {
    const { ref } = open();
    expect(await ref.ask({ type: "usage", ...about([user("Hi there"), long]) })).toEqual({
      status: "measured",
      tokens: 1_103,
      items: [
        { kind: "user", tokens: 2, text: "Hi there" },
        { kind: "user", tokens: 1_001, text: expect.stringMatching(/^word word .*…$/) },
      ],
    });
  });
});

describe("a compaction", () => {
  test("names the items that stay by their place, and contains the new ones", async () => {
    const { ref } = open([says("The summary")]);
    const result = await ref.ask({ ...wish, ...about(talk) });
    expect(result).toMatchObject({ status: "compacted", items: [0, 2, { summary: true }], source: "model" });
    expect(compacted(result, talk)).toEqual(["first", "second", "Summary of earlier conversation:\n\nThe summary"]);
  });

  test("asks for the summary of a fixed cut while the items are being counted", async () => {
    const slow = slowProvider();
    const cpu = openCpuPool();
    onTestFinished(() => cpu.close());
    const { ref } = open([], {
      provider: () => ({ kind: "provider", provider: slow }),
      cpu: {
        run: async (...job) => {
          (await slow.asked).finish("The summary");
          return await cpu.run(...job);
        },
        prepare: async () => undefined,
      },
    });
    const items = Array.from({ length: 100 }, () => [long, assistant("one")]).flat();
    const result = await ref.ask({ ...wish, ...about(items) });
    expect(result).toMatchObject({ status: "compacted", summary: "The summary" });
  });

  test("that fails keeps the history with a warning, or is made without a model if it is urgent", async () => {
    const { ref } = open([fails("auth", false), fails("auth", false)]);
    const reason = "Compression failed, conversation may hit limits soon: the model failed: auth";
    expect(await ref.ask({ ...wish, ...about(talk) })).toEqual({ status: "kept", reason, warnings: [reason] });
    const urgent = await ref.ask({ ...wish, ...about(talk), isUrgent: true });
    expect(urgent).toMatchObject({ status: "compacted", source: "extracted" });
  });

  test("with a strategy that throws fails alone, and the next one succeeds", async () => {
    const broken = {
      name: "broken",
      label: "",
      prompt: "",
      plan: () => {
        throw new Error("a bug");
      },
    };
    const { ref } = open([says("Short")], { strategies: new Map([...strategies, ["broken", broken]]) });
    expect(await ref.ask({ type: "plan", ...about(talk), strategy: "broken" })).toEqual({
      status: "failed",
      reason: "a bug",
    });
    expect(await ref.ask({ ...wish, ...about(talk), strategy: "broken" })).toMatchObject({ status: "kept" });
    expect(await ref.ask({ ...wish, ...about(talk) })).toMatchObject({ status: "compacted", summary: "Short" });
  });
});

describe("a prepared summary", () => {
  const prepare = { type: "prepare", summary } as const;

  test("is announced when it is ready, and used for its generation only", async () => {
    const { ref, provider, next } = open([says("Prepared"), says("Fresh")]);
    expect(await ref.ask({ ...prepare, ...about(talk) })).toEqual({ strategy: "codex", cut: 4, tokens: 106 });
    expect(await next()).toEqual({ type: "prepared", conversationId: "c", generation: 0, cut: 4 });
    const grown = [...talk, user("third"), assistant("three")];
    const result = await ref.ask({ ...wish, ...about(grown), usesPrepared: true });
    expect(compacted(result, grown)).toEqual([
      "first",
      "second",
      "Summary of earlier conversation:\n\nPrepared",
      "third",
      "three",
    ]);
    const later = await ref.ask({ ...wish, ...about(talk, { generation: 1 }), usesPrepared: true });
    expect(later).toMatchObject({ status: "compacted", summary: "Fresh" });
    expect(provider.requests).toHaveLength(2);
  });

  test("is continued by the next one, which reads only the items since", async () => {
    const { ref, provider, next } = open([says("Earlier"), says("Later")]);
    await ref.ask({ ...prepare, ...about(talk) });
    await next();
    await ref.ask({ ...prepare, ...about([...talk, user("third"), assistant("three")]) });
    expect(await next()).toMatchObject({ type: "prepared", cut: 6 });
    const input = texts(provider.requests[1]?.input ?? []);
    expect(input).toEqual(["third", "three", expect.stringContaining("<previous_summary>\nEarlier")]);
  });

  test("is awaited by a compaction that uses it", async () => {
    const slow = slowProvider();
    const { ref } = open([], { provider: () => ({ kind: "provider", provider: slow }) });
    await ref.ask({ ...prepare, ...about(talk) });
    const waiting = ref.ask({ ...wish, ...about(talk), usesPrepared: true });
    (await slow.asked).finish("Prepared");
    expect(await waiting).toMatchObject({ status: "compacted", summary: "Prepared" });
  });

  test("that fails is reported, and the next compaction asks the model itself", async () => {
    const { ref, next } = open([fails("auth", false), says("Fresh")]);
    await ref.ask({ ...prepare, ...about(talk) });
    expect(await next()).toMatchObject({ type: "compaction_failed", generation: 0, cut: 4 });
    const result = await ref.ask({ ...wish, ...about(talk), usesPrepared: true });
    expect(result).toMatchObject({ status: "compacted", summary: "Fresh" });
  });

  test.each([
    ["the conversation is forgotten", { type: "forget", conversationId: "c" } as const],
    ["the history is replaced", { type: "count", ...about([user("new")], { generation: 1 }) } as const],
  ])("is aborted without a report when %s", async (_, op) => {
    const slow = slowProvider();
    const { ref, events } = open([], { provider: () => ({ kind: "provider", provider: slow }) });
    await ref.ask({ ...prepare, ...about(talk) });
    const { aborted } = await slow.asked;
    await ref.tell(op);
    await aborted;
    expect(events.filter(({ type }) => type !== "counted")).toEqual([]);
  });

  test("is not begun when there is nothing to summarize", async () => {
    const { ref, provider } = open();
    expect(await ref.ask({ ...prepare, ...about([]) })).toBeNull();
    expect(provider.requests).toEqual([]);
  });

  test("is reported as failed when the compactor ends", async () => {
    const { ref, events } = open([[{ type: "hang" }]]);
    await ref.ask({ ...prepare, ...about(talk) });
    await ref.stop();
    expect(events).toMatchObject([{ type: "compaction_failed", conversationId: "c", cut: 4 }]);
  });
});

describe("a history in a rollout", () => {
  const offline: Partial<CompactorOptions> = { provider: () => ({ kind: "offline" }) };

  test("is counted, planned and compacted like one in a message, and keeps the conversation's own items", async () => {
    const items = [user("my key is sk-secret"), long, assistant("one"), user("second"), assistant("two")];
    const source = await stored(items, 2);
    const { ref, next } = open([], offline);
    await ref.tell({ type: "count", ...about(source) });
    const counted = await next();
    await ref.tell({ type: "count", ...about(items, { conversationId: "d" }) });
    const expected = await next();
    // The redacted text has another length.
    expect(counted).toMatchObject({ items: 5, added: expect.closeTo(expectedTokens(expected), -2) });
    expect(await ref.ask({ type: "plan", ...about(source) })).toMatchObject({ status: "planned", cut: 5 });
    const result = await ref.ask({ ...wish, ...about(source) });
    expect(result).toMatchObject({ status: "compacted", source: "model", items: [0, 1, 3, { summary: true }] });
    expect(compacted(result, items).slice(0, 3)).toEqual(texts([user("my key is sk-secret"), long, user("second")]));
  });

  test("can be prepared and listed, and compacted by an injected provider", async () => {
    const source = await stored(talk, 1);
    const { ref, next } = open([says("Prepared")]);
    expect(await ref.ask({ type: "prepare", summary, ...about(source) })).toMatchObject({ cut: 4 });
    expect(await next()).toMatchObject({ type: "prepared", cut: 4 });
    const usage = await ref.ask({ type: "usage", ...about(source) });
    expect(usage.status === "measured" && usage.items.map(({ text }) => text)).toEqual(texts(talk));
    const result = await ref.ask({ ...wish, ...about(source), usesPrepared: true });
    expect(result).toMatchObject({ status: "compacted", summary: "Prepared", items: [0, 2, { summary: true }] });
  });

  test("that another program has changed is refused", async () => {
    const source = await stored(talk, 0);
    const { ref } = open([], offline);
    const changed = { ...source, length: 7 } as HistorySource;
    const reason = expect.stringContaining("its rollout has 4 items instead of 7");
    expect(await ref.ask({ type: "plan", ...about(changed) })).toEqual({ status: "failed", reason });
    expect(await ref.ask({ ...wish, ...about(changed) })).toMatchObject({ status: "kept", reason });
  });
});

/** Writes the first lines to a file, with the secret redacted as on disk, and leaves the last in the message. */
async function stored(items: readonly ResponseItem[], unsaved: number): Promise<HistorySource> {
  const path = join(await temporaryFolder(), "c.jsonl");
  const lines = items.map((payload): OwnLine => ({
    timestamp: "2026-11-18T00:00:00Z",
    type: "response_item",
    payload,
  }));
  const saved = lines.slice(0, lines.length - unsaved).map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(path, saved.join("").replaceAll("sk-secret", "[redacted]"));
  const { size } = await stat(path);
  // Written after the message was sent.
  await writeFile(path, `${JSON.stringify(lines[0])}\n`, { flag: "a" });
  return { kind: "rollout", path, bytes: size, tail: lines.slice(lines.length - unsaved), length: items.length };
}

interface SlowRequest {
  readonly aborted: Promise<unknown>;
  finish(text: string): void;
}

/** A provider whose answer is given by the test. */
function slowProvider(): Provider & { readonly asked: Promise<SlowRequest> } {
  const asked = new Deferred<SlowRequest>();
  return {
    name: "slow",
    asked: asked.promise,
    async *stream(request, signal) {
      const aborted = once(signal, "abort");
      const text = await new Promise<string>((finish) => asked.resolve({ aborted, finish }));
      yield* scripted([says(text)]).stream(request, signal);
    },
  };
}

function expectedTokens(event: CompactorEvent | undefined): number {
  return event?.type === "counted" ? event.added : 0;
}
