import { expect, test } from "vitest";
import { asksForSummary, callsAt, compactingConfig, openCompacting, saysAt, texts } from "../support/compacting.js";
import { openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, says, scripted, user } from "../support/scripted-provider.js";

// The parts of Codex's own compaction tests that apply to cody; docs/decisions/compaction.md lists the differences.

const summaryItem = expect.stringMatching(/^Summary of earlier conversation:\n\n/);

test("a manual compaction sends the history followed by the prompt, with the same instructions", async () => {
  const { provider, conversation } = await openCompacting([says("one"), says("The summary")]);
  await conversation.processMessage("first");
  await conversation.compact();
  const [turn, summary] = provider.requests;
  expect(summary?.instructions).toBe(turn?.instructions);
  expect(texts(summary?.input ?? [])).toEqual(["first", "one", expect.stringContaining("concise summary")]);
});

test("the next request has the user's messages, the summary and the new items, but no assistant items or prompt", async () => {
  const { provider, conversation } = await openCompacting([says("one"), says("The summary"), says("two")]);
  await conversation.processMessage("first");
  await conversation.compact();
  await conversation.processMessage("second");
  expect(texts(provider.requests[2]?.input ?? [])).toEqual(["first", summaryItem, "second"]);
});

test("a configured prompt replaces the default prompt", async () => {
  const { provider, conversation } = await openCompacting([says("one"), says("The summary")], {
    prompt: "TL;DR please",
  });
  await conversation.processMessage("first");
  await conversation.compact();
  expect(texts(provider.requests[1]?.input ?? []).at(-1)).toMatch(/^TL;DR please/);
});

test("a model that reports no usage leaves an estimate above zero", async () => {
  const silent = says("The summary").filter(({ type }) => type !== "usage");
  const { conversation } = await openCompacting([says("one"), silent]);
  await conversation.processMessage("first");
  await conversation.compact();
  expect(conversation.usage?.last_token_usage.total_tokens).toBeGreaterThan(0);
});

test("compaction starts after the turn has started; its start, record and end have one submission id", async () => {
  const { conversation, events } = await openCompacting([saysAt("one", 9000), says("The summary")]);
  await conversation.submit("first");
  await events.until("task_complete");
  const told = events.seen.filter(({ msg }) => /^(?:task_started|compaction_|context_)/.test(msg.type));
  expect(told.map(({ msg }) => msg.type)).toEqual([
    "task_started",
    "compaction_start",
    "context_compacted",
    "compaction_end",
  ]);
  expect(new Set(told.map(({ id }) => id)).size).toBe(1);
});

test("several compactions may run in one long turn", async () => {
  const { provider, conversation } = await openCompacting([
    callsAt(9000, "call_1", "/etc/hostname"),
    says("Summary 1"),
    callsAt(9000, "call_2", "/etc/hostname"),
    says("Summary 2"),
    says("done"),
  ]);
  await conversation.processMessage("read it twice");
  expect(provider.requests.map(asksForSummary)).toEqual([false, true, false, true, false]);
  expect(texts(provider.requests[4]?.input ?? [])).toEqual([
    "read it twice",
    expect.stringMatching(/^Summary of earlier conversation:\n\nSummary 2/),
  ]);
});

test("before a turn, the new user message is not in the summary request and follows the summary", async () => {
  const { provider, conversation } = await openCompacting([says("one"), says("The summary"), says("two")]);
  await conversation.processMessage("first");
  await conversation.replaceHistory([user("a"), assistant("word ".repeat(8_000))]);
  await conversation.processMessage("second");
  expect(provider.requests.map(asksForSummary)).toEqual([false, true, false]);
  expect(texts(provider.requests[1]?.input ?? [])).not.toContain("second");
  expect(texts(provider.requests[2]?.input ?? []).slice(-2)).toEqual([summaryItem, "second"]);
});

test("switching to a model with a smaller window compacts first, with the previous model", async () => {
  const provider = scripted([saysAt("one", 50_000), says("The summary"), says("two")]);
  const { manager } = await openManager({ providers: [provider] });
  const { conversation } = await manager.newConversation({ provider: "scripted", model: "gpt-4o" });
  await conversation.processMessage("first");
  await conversation.submit({ type: "override_turn_context", model: "gpt-4" });
  await conversation.processMessage("second");
  expect(provider.requests.map((request) => [request.model, asksForSummary(request)])).toEqual([
    ["gpt-4o", false],
    ["gpt-4o", true],
    ["gpt-4", false],
  ]);
});

test("each turn writes one turn_context, and a compaction writes one compacted line with the summary", async () => {
  const { conversation } = await openCompacting([saysAt("one", 9000), says("The summary"), says("two")]);
  await conversation.processMessage("first");
  await conversation.processMessage("second");
  const types = (await rolloutLines(conversation.rolloutPath)).map(({ type }) => type);
  expect(types.filter((type) => type === "turn_context")).toHaveLength(2);
  expect(types.filter((type) => type === "compacted")).toHaveLength(1);
});

test("instructions and environment stay at the start of the history", async () => {
  const rules = user("# AGENTS.md instructions for /project\n\n<INSTRUCTIONS>\nNo tabs.\n</INSTRUCTIONS>");
  const { conversation } = await openCompacting([says("one"), says("The summary")]);
  await conversation.replaceHistory([rules, user("a"), assistant("b")]);
  await conversation.processMessage("first");
  await conversation.compact();
  expect(conversation.getHistory()[0]).toEqual(rules);
});

test("the prompt after a compaction is a prefix of the prompt after a resume and after a fork", async () => {
  const first = await openCompacting([says("one"), says("The summary"), says("two")]);
  await first.conversation.processMessage("first");
  await first.conversation.compact();
  await first.conversation.processMessage("second");
  const before = first.provider.requests[2]?.input ?? [];
  await first.manager.shutdown();
  const provider = scripted([says("three"), says("forked"), says("Summary 2")]);
  const { manager } = await openManager({ home: first.home, providers: [provider], config: compactingConfig() });
  const { conversation: fork } = await manager.forkConversation(first.conversationId);
  await (await manager.resumeConversation(first.conversationId)).processMessage("third");
  await fork.processMessage("third");
  expect(provider.requests[0]?.input.slice(0, before.length)).toEqual(before);
  expect(provider.requests[1]?.input.slice(0, before.length)).toEqual(before);
  await fork.compact();
  expect(texts(provider.requests[2]?.input ?? []).slice(0, -1)).toEqual(["second", "two", "third", "forked"]);
  expect(texts(fork.getHistory())).toEqual(["first", "second", "third", summaryItem]);
});
