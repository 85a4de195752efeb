import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { messageText } from "../../src/messages/response-item.js";
import {
  asksForSummary,
  breaks,
  callsAt,
  compactingConfig,
  messages,
  openCompacting,
  overflows,
  saysAt,
  texts,
} from "../support/compacting.js";
import { openManager } from "../support/open-conversation.js";
import { getRolloutHistory } from "../../src/rollouts/file/read.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { assistant, calls, says, scripted, user } from "../support/scripted-provider.js";

describe("when compaction runs", () => {
  test.each([
    [8000, [false]],
    [8001, [false, true]],
  ])("with a window of 10,000 and %d tokens these requests are for a summary: %j", async (tokens, summaries) => {
    const { provider, conversation } = await openCompacting([saysAt("one", tokens), says("The summary")]);
    await conversation.processMessage("first");
    expect(provider.requests.map(asksForSummary)).toEqual(summaries);
  });

  test.each([
    ["large", 8500, [false]],
    ["small", 7000, [false, true]],
    ["counted", 5001, [false, true]],
    ["reserving", 6001, [false, true]],
    ["other", 8000, [false]],
  ])(
    "the model %s has its own threshold: with %d tokens these requests are for a summary: %j",
    async (model, tokens, summaries) => {
      const provider = scripted([saysAt("one", tokens), says("The summary")]);
      const models = {
        large: { compaction: { ratio: 0.9 } },
        small: { compaction: { ratio: 0.5 } },
        counted: { compaction: { tokenLimit: 5000 } },
        reserving: { compaction: { reserveTokens: 4000 } },
      };
      const config = { ...compactingConfig({ ratio: 0.8 }), models };
      const { manager } = await openManager({ providers: [provider], config });
      const { conversation } = await manager.newConversation({ provider: "scripted", model });
      await conversation.processMessage("first");
      expect(provider.requests.map(asksForSummary)).toEqual(summaries);
    },
  );

  test("the threshold changes with the model of a conversation, and previews name it", async () => {
    const provider = scripted([saysAt("one", 7000), saysAt("two", 7000), says("The summary")]);
    const config = { ...compactingConfig(), models: { small: { compaction: { ratio: 0.5 } } } };
    const { manager } = await openManager({ providers: [provider], config });
    const { conversation } = await manager.newConversation({ provider: "scripted", model: "large" });
    await conversation.processMessage("first");
    expect((await conversation.contextUsage()).limit).toBe(8000);
    await conversation.submit({ type: "override_turn_context", model: "small" });
    await conversation.processMessage("second");
    expect(provider.requests.map(asksForSummary)).toContain(true);
    expect((await conversation.contextUsage()).limit).toBe(5000);
  });

  test("the summary is requested from the same model, without tools, with the whole history", async () => {
    const { provider, conversation } = await openCompacting([says("one"), saysAt("two", 8001), says("The summary")]);
    await conversation.processMessage("first");
    await conversation.processMessage("second");
    const summary = provider.requests[2];
    expect(summary).toMatchObject({ model: "scripted", tools: [], maxOutputTokens: 4096 });
    expect(texts(summary?.input.slice(0, -1) ?? [])).toEqual(["first", "one", "second", "two"]);
  });

  test("compaction ends before the turn is reported complete, and the next request has the small history", async () => {
    const { provider, conversation, events } = await openCompacting([
      saysAt("one", 9000),
      says("The summary"),
      says("three"),
    ]);
    await conversation.submit("first");
    await events.until("task_complete");
    expect(events.types().filter((type) => /compact|task_complete/.test(type))).toEqual([
      "compaction_start",
      "context_compacted",
      "compaction_end",
      "task_complete",
    ]);
    await conversation.processMessage("second");
    expect(texts(provider.requests[2]?.input ?? [])).toEqual([
      "first",
      expect.stringMatching(/^Summary of earlier conversation:\n\nThe summary/),
      "second",
    ]);
  });

  test("a resumed conversation above the limit is compacted before its first request", async () => {
    const before = await openCompacting([saysAt("one", 9000), breaks]);
    await before.conversation.processMessage("first");
    await before.manager.shutdown();
    const provider = scripted([says("The summary"), says("two")]);
    const { manager } = await openManager({ home: before.home, providers: [provider], config: compactingConfig() });
    const resumed = await manager.resumeConversation(before.conversationId);
    await resumed.processMessage("second");
    expect(provider.requests.map(asksForSummary)).toEqual([true, false]);
    expect(texts(provider.requests[1]?.input ?? []).at(-1)).toBe("second");
  });

  test("compaction runs between two tool rounds", async () => {
    const { provider, conversation } = await openCompacting([
      callsAt(9000, "call_1", "/etc/hostname"),
      says("The summary"),
      says("done"),
    ]);
    await conversation.processMessage("read it");
    expect(provider.requests.map(asksForSummary)).toEqual([false, true, false]);
    expect(texts(provider.requests[2]?.input ?? [])).toEqual(["read it", expect.stringContaining("The summary")]);
    expect(texts(conversation.getHistory()).at(-1)).toBe("done");
  });

  test("compaction runs once when the provider says that the context is too long", async () => {
    const { provider, conversation } = await openCompacting([says("one"), overflows, says("The summary"), says("two")]);
    await conversation.processMessage("first");
    const items = await conversation.processMessage("second");
    expect(texts(items)).toEqual(["second", "two"]);
    expect(provider.requests.map(asksForSummary)).toEqual([false, false, true, false]);
  });

  test("a second context-too-long refusal is a clear error and no loop", async () => {
    const { provider, conversation } = await openCompacting([says("one"), overflows, says("The summary"), overflows]);
    await conversation.processMessage("first");
    await expect(conversation.processMessage("second")).rejects.toThrow(
      "too long; use a model with a larger context window, or start a new conversation: cody new",
    );
    expect(provider.requests).toHaveLength(4);
  });

  test("compaction never runs when it is switched off", async () => {
    const { provider, conversation } = await openCompacting([saysAt("one", 9999), overflows], { enabled: false });
    await conversation.processMessage("first");
    await expect(conversation.processMessage("second")).rejects.toThrow("too long");
    expect(provider.requests.map(asksForSummary)).toEqual([false, false]);
  });

  test.each([
    [{ tokenLimit: 5000 }, 5001],
    [{ reserveTokens: 3000 }, 7001],
    [{ ratio: 0.6 }, 6001],
    [{ reserveTokens: 9000 }, 5001],
  ])("the smallest of the configured limits counts: %j", async (compaction, tokens) => {
    for (const [used, summaries] of [
      [tokens - 1, [false]],
      [tokens, [false, true]],
    ] as const) {
      const { provider, conversation } = await openCompacting([saysAt("one", used), says("The summary")], compaction);
      await conversation.processMessage("first");
      expect(provider.requests.map(asksForSummary)).toEqual(summaries);
    }
  });

  test("an estimate above the limit is checked with an exact count before a summary is requested", async () => {
    const { provider, conversation } = await openCompacting([says("one"), says("two")]);
    await conversation.processMessage("first");
    // Estimated at 9,000 tokens; the exact count is a little over a tenth of that.
    await conversation.replaceHistory([user("a"), assistant("x".repeat(36_000))]);
    await conversation.processMessage("second");
    expect(provider.requests.map(asksForSummary)).toEqual([false, false]);
  });

  test("a first message that is too long is sent unchanged, because there is nothing to leave out", async () => {
    const { provider, conversation, events } = await openCompacting([says("one")]);
    await conversation.submit("word ".repeat(8_500));
    await events.until("task_complete");
    expect(provider.requests).toHaveLength(1);
    expect(events.types()).not.toContain("compaction_start");
  });
});

describe("manual compaction", () => {
  test("always runs, takes instructions, and reports what it did", async () => {
    const { provider, conversation } = await openCompacting([says("one"), says("The summary")]);
    await conversation.processMessage("first");
    const outcome = await conversation.compact({ instructions: "Mind the colour." });
    expect(outcome).toMatchObject({ status: "compacted", strategy: "codex", source: "model", summary: "The summary" });
    const last = provider.requests[1]?.input.at(-1);
    expect(last?.type === "message" && messageText(last)).toContain("Mind the colour.");
    expect(texts(conversation.getHistory())).toEqual(["first", "Summary of earlier conversation:\n\nThe summary"]);
  });

  test("a second compaction updates the first summary and reads only the new items", async () => {
    const { provider, conversation } = await openCompacting([
      says("one"),
      says("Summary 1"),
      says("two"),
      says("Summary 2"),
    ]);
    await conversation.processMessage("first");
    await conversation.compact();
    await conversation.processMessage("second");
    await conversation.compact();
    const { input = [] } = provider.requests[3] ?? {};
    expect(texts(input.slice(0, -1))).toEqual(["second", "two"]);
    expect(texts(input).at(-1)).toContain("Summary 1");
    expect(texts(conversation.getHistory())).toEqual([
      "first",
      "second",
      "Summary of earlier conversation:\n\nSummary 2",
    ]);
  });

  test("an unknown strategy is refused with a list of the known ones, and no request is sent", async () => {
    const { provider, conversation } = await openCompacting([says("one")]);
    await conversation.processMessage("first");
    expect(await conversation.compact({ strategy: "none-such" })).toEqual({
      status: "kept",
      reason: "Unknown compaction strategy none-such. Strategies: codex, recent-turns, recent-tokens, user-only",
    });
    expect(provider.requests).toHaveLength(1);
  });

  test("an interrupt keeps the history, and input submitted meanwhile is played", async () => {
    const { conversation, events, provider } = await openCompacting([says("one"), [{ type: "hang" }], says("two")]);
    await conversation.processMessage("first");
    const history = conversation.getHistory();
    const outcome = conversation.compact();
    // Wait until the summary is requested; an earlier interrupt would leave its answer for the next turn.
    await expect.poll(() => provider.requests.length, { timeout: 20_000 }).toBe(2);
    await conversation.submit("second");
    await conversation.interrupt();
    expect(await outcome).toEqual({ status: "aborted" });
    expect(await events.until("compaction_end")).toMatchObject({ outcome: "aborted" });
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "two" });
    expect(conversation.getHistory().slice(0, 2)).toEqual(history);
  });
});

describe("the record and the events", () => {
  test("a compaction writes one record with Codex's fields and cody's, and reports the remaining tokens", async () => {
    const { conversation, events } = await openCompacting([saysAt("one", 9000), says("The summary")]);
    await conversation.submit("first");
    await events.until("task_complete");
    const lines = await rolloutLines(conversation.rolloutPath);
    const record = lines.find(({ type }) => type === "compacted");
    expect(record?.payload).toMatchObject({
      message: "Summary of earlier conversation:\n\nThe summary",
      replacement_history: conversation.getHistory(),
      cody: {
        trigger: "auto",
        strategy: "codex",
        source: "model",
        tokens_before: 9000,
        items_before: 2,
        items_after: 2,
        truncated_count: 0,
        read_files: [],
        modified_files: [],
      },
    });
    const end = messages(events).find((msg) => msg.type === "compaction_end");
    expect(end).toMatchObject({ outcome: "compacted", tokens_before: 9000, summary: "The summary" });
    const compacted = messages(events).find((msg) => msg.type === "context_compacted");
    expect(compacted).toMatchObject({
      old_token_count: 9000,
      new_token_count: conversation.usage?.last_token_usage.total_tokens,
    });
    expect(conversation.usage?.last_token_usage.total_tokens).toBeLessThan(7000);
    expect(conversation.getHistory().at(-1)).toMatchObject({ summary: true });
  });

  test("files that were read and written are listed once, over two compactions", async () => {
    const { conversation } = await openCompacting([
      calls("read_file", "call_1", { path: "/etc/hostname" }),
      says("one"),
      says("Summary 1"),
      calls("read_file", "call_2", { path: "/etc/os-release" }),
      says("two"),
      says("Summary 2"),
    ]);
    await conversation.processMessage("first");
    await conversation.compact();
    await conversation.processMessage("second");
    await conversation.compact();
    const summary = texts(conversation.getHistory()).at(-1) ?? "";
    expect(summary).toBe(
      "Summary of earlier conversation:\n\nSummary 2\n## Files Read\n- /etc/hostname\n- /etc/os-release",
    );
  });

  test("resuming restores the compacted history and continues from it", async () => {
    const first = await openCompacting([saysAt("one", 9000), says("The summary")]);
    await first.conversation.processMessage("first");
    const history = first.conversation.getHistory();
    await first.manager.shutdown();
    const provider = scripted([says("two")]);
    const { manager } = await openManager({ home: first.home, providers: [provider], config: compactingConfig() });
    const resumed = await manager.resumeConversation(first.conversationId);
    expect(resumed.getHistory()).toEqual(history);
    await resumed.processMessage("second");
    expect(texts(provider.requests[0]?.input ?? [])).toEqual([...texts(history), "second"]);
  });
});

describe("failures", () => {
  test("a failed summary keeps the history, shows a warning, and is not retried at once", async () => {
    const { provider, conversation, events } = await openCompacting([saysAt("one", 9000), breaks, saysAt("two", 9100)]);
    await conversation.submit("first");
    await events.until("task_complete");
    const history = conversation.getHistory();
    expect(messages(events)).toContainEqual({
      type: "warning",
      message: "Compression failed, conversation may hit limits soon: no",
    });
    expect(texts(history)).toEqual(["first", "one"]);
    await conversation.processMessage("second");
    expect(provider.requests.map(asksForSummary)).toEqual([false, true, false]);
  });

  test("when the next request cannot fit, facts extracted without a model replace the summary", async () => {
    const { provider, conversation } = await openCompacting([saysAt("one", 10_001), breaks, says("two")]);
    await conversation.processMessage("first");
    expect(texts(conversation.getHistory()).at(-1)).toMatch(
      /^Summary of earlier conversation:\n\n\(summary unavailable\)/,
    );
    await conversation.processMessage("second");
    expect(provider.requests).toHaveLength(3);
  });

  test("an empty summary becomes a placeholder with facts, and the compaction completes", async () => {
    const { conversation } = await openCompacting([says("one"), says("")]);
    await conversation.processMessage("Build a boat");
    expect(await conversation.compact()).toMatchObject({ status: "compacted", source: "extracted" });
    expect(texts(conversation.getHistory()).at(-1)).toMatch(/\(summary unavailable\)\n[^]*Build a boat/);
  });

  test("a summary as long as the history is not used, and after three of them automatic compaction stops", async () => {
    const long = says("word ".repeat(12_000));
    const answers = [1600, 2200, 2800, 3400, 4000].map((tokens) => saysAt("An answer", tokens));
    const replies = answers.flatMap((reply, round) => (round < 3 ? [reply, long] : [reply]));
    const { provider, conversation, events } = await openCompacting(replies, { tokenLimit: 1500 });
    for (const question of ["1", "2", "3", "4", "5"]) {
      await conversation.submit(question);
      await events.until("task_complete");
    }
    expect(provider.requests.filter(asksForSummary)).toHaveLength(3);
    expect(texts(conversation.getHistory())).toHaveLength(10);
    const warnings = messages(events).flatMap((msg) => (msg.type === "warning" ? [msg.message] : []));
    expect(warnings.at(-1)).toBe("Compaction failed 3 times, so automatic compaction is off. To try again: /compact");
  });

  test("a history too long to summarize loses its oldest items, and the warning says how many", async () => {
    const { provider, conversation, events } = await openCompacting([
      says("one"),
      overflows,
      overflows,
      says("The summary"),
    ]);
    await conversation.replaceHistory([user("a"), assistant("b"), user("c"), assistant("d")]);
    await conversation.processMessage("first");
    await conversation.compact();
    expect(provider.requests.slice(1).map(({ input }) => texts(input.slice(0, -1)))).toEqual([
      ["a", "b", "c", "d", "first", "one"],
      ["b", "c", "d", "first", "one"],
      ["c", "d", "first", "one"],
    ]);
    await events.until("compaction_end");
    expect(messages(events)).toContainEqual({
      type: "warning",
      message: "Trimmed 2 older item(s) before compacting to fit context window",
    });
  });
});

test("a crash at any byte of the compaction record leaves the old or the new history, whole", async () => {
  const { conversation, manager } = await openCompacting([saysAt("one", 9000), says("The summary")]);
  await conversation.processMessage("first");
  const compacted = conversation.getHistory();
  const { rolloutPath } = conversation;
  await manager.shutdown();
  const bytes = await readFile(rolloutPath ?? "");
  const begin = bytes.indexOf('"type":"compacted"');
  const copy = join(await temporaryFolder(), "copy.jsonl");
  const found = new Set<string>();
  for (let end = begin - 50; end <= bytes.length; end += 37) {
    await writeFile(copy, bytes.subarray(0, end));
    const { history } = await getRolloutHistory(copy);
    found.add(JSON.stringify(history));
  }
  expect([...found]).toEqual([JSON.stringify([user("first"), assistant("one")]), JSON.stringify(compacted)]);
});

describe("undo", () => {
  test("restores the previous history and the later messages, and suspends automatic compaction", async () => {
    const { provider, conversation } = await openCompacting([
      saysAt("one", 9000),
      says("The summary"),
      says("two"),
      saysAt("three", 9500),
    ]);
    await conversation.processMessage("first");
    await conversation.processMessage("second");
    expect(await conversation.undoCompaction()).toMatchObject({ status: "compacted" });
    expect(texts(conversation.getHistory())).toEqual(["first", "one", "second", "two"]);
    await conversation.processMessage("third");
    expect(provider.requests.map(asksForSummary)).toEqual([false, true, false, false]);
  });

  test("undoing twice goes back two compactions, and a third undo has nothing to restore", async () => {
    const { conversation } = await openCompacting([says("one"), says("Summary 1"), says("two"), says("Summary 2")]);
    await conversation.processMessage("first");
    await conversation.compact();
    await conversation.processMessage("second");
    await conversation.compact();
    await conversation.undoCompaction();
    expect(texts(conversation.getHistory())).toEqual([
      "first",
      "Summary of earlier conversation:\n\nSummary 1",
      "second",
      "two",
    ]);
    await conversation.undoCompaction();
    expect(texts(conversation.getHistory())).toEqual(["first", "one", "second", "two"]);
    expect(await conversation.undoCompaction()).toEqual({ status: "kept", reason: "no compaction to undo" });
  });
});

test("undo fails in a file that was damaged meanwhile, and the conversation continues", async () => {
  const replies = [says("one"), says("Summary 1"), says("two")];
  const { conversation } = await openCompacting(replies, {}, { idleAfter: Infinity });
  await conversation.processMessage("first");
  await conversation.compact();
  const path = conversation.rolloutPath ?? "";
  await conversation.flush();
  const bytes = await readFile(path);
  await writeFile(path, bytes.fill("x", 10, 20));
  expect(await conversation.undoCompaction()).toMatchObject({
    status: "kept",
    reason: expect.stringContaining("line 1"),
  });
  expect(texts(await conversation.processMessage("second"))).toEqual(["second", "two"]);
});

test("pinned items survive every compaction", async () => {
  const { conversation } = await openCompacting([says("one"), says("Summary 1"), says("Summary 2")]);
  await conversation.pin("Never use tabs.");
  await conversation.processMessage("first");
  await conversation.compact();
  await conversation.compact();
  expect(texts(conversation.getHistory())[0]).toBe("Never use tabs.");
});
