import { join } from "node:path";
import { expect, test } from "vitest";
import { readRollout } from "../../../../src/rollouts/file/read.js";
import { TurnGrouping } from "../../../../src/rollouts/turns.js";
import { openManager } from "../../../support/open-conversation.js";
import { rolloutLines } from "../../../support/rollout-lines.js";
import { canonical, plain } from "./canonical-conversation.js";
import { importedItems, importFixture, importFixtures } from "./import-fixture.js";

const played = { provider: "openai", model: "gpt-5" };
const claude = { provider: "anthropic", model: "claude-sonnet-4-20250514" };

const formats = [
  {
    name: "codex.jsonl",
    format: "codex",
    id: "conv_019a0000-0000-7000-8000-000000000001",
    by: played,
    git: { commit_hash: "abc123", branch: "main" },
    losses: {},
  },
  { name: "turns.jsonl", format: "turns", by: played, cwd: "/", losses: {} },
  {
    name: "envoy.jsonl",
    format: "envoy",
    id: "conv_019a0000-0000-7000-8000-000000000003",
    by: { provider: "anthropic", model: "unknown" },
    git: { commit_hash: "abc123" },
    losses: { signatures: 1, system_messages: 1 },
  },
  { name: "diligent-1.jsonl", format: "diligent", by: claude, title: "Two files", losses: { usage: 1 } },
  {
    name: "diligent-2.jsonl",
    format: "diligent",
    by: claude,
    title: "Two files",
    losses: { abandoned_entries: 1, usage: 1 },
  },
  {
    name: "session-messages.json",
    format: "json",
    id: "conv_019a0000-0000-7000-8000-000000000006",
    by: played,
    losses: {},
  },
  {
    name: "session-items.json",
    format: "json",
    id: "conv_019a0000-0000-7000-8000-000000000007",
    by: played,
    losses: {},
  },
  { name: "history.json", format: "json", by: { provider: "unknown", model: "unknown" }, cwd: "/", losses: {} },
  { name: "history-serde.json", format: "json", by: { provider: "unknown", model: "unknown" }, cwd: "/", losses: {} },
  {
    name: "claude-code.jsonl",
    format: "claude-code",
    id: "conv_c832cad4-4a3a-448d-a07d-41467dce8320",
    by: { provider: "anthropic", model: "claude-sonnet-4-5" },
    losses: { attachments: 2, tool_details: 2, usage: 3 },
  },
  {
    name: "pi.jsonl",
    format: "pi",
    id: "conv_01a1e99e-0d36-7da3-853c-688ab87afa94",
    by: { provider: "unknown", model: "mock-1" },
    losses: { provider: 1, settings: 1, usage: 3 },
  },
];

test.each(formats)("$name is imported as the canonical conversation", async (expected) => {
  const { result, lines } = await importFixture(expected.name);
  expect(plain(importedItems(lines))).toEqual(canonical);
  expect(result).toEqual({
    status: "imported",
    path: join(importFixtures, expected.name),
    format: expected.format,
    conversationId: expected.id ?? result.conversationId,
    rolloutPath: result.rolloutPath,
    ...(expected.title === undefined ? {} : { name: expected.title }),
    turns: 2,
    items: canonical.length,
    losses: { counts: expected.losses, damaged: [], damagedCount: 0 },
  });
  const [first] = lines;
  expect(first).toMatchObject({ type: "session_meta", metadata: { ...expected.by, format: 1 } });
  expect(first?.payload).toMatchObject({
    cwd: expected.cwd ?? "/projects/site",
    ...(expected.git === undefined ? {} : { git: expected.git }),
  });
});

test.each(formats)("an import of $name keeps its times", async ({ name }) => {
  const { lines } = await importFixture(name);
  const times = lines.filter(({ type }) => type === "response_item").map(({ timestamp }) => Date.parse(timestamp));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const [first = 0, last = 0] = [times.at(0), times.at(-1)];
  expect(first).toBeGreaterThan(Date.parse("2026-01-01"));
  expect(last - first).toBeLessThan(60_000);
});

// A compacted history is one turn.
const uncompacted = formats.filter(({ name }) => name !== "diligent-2.jsonl");

test.each(uncompacted)("an import of $name keeps its turns", async ({ name }) => {
  const { result } = await importFixture(name);
  const grouping = new TurnGrouping();
  const reading = readRollout(result.rolloutPath ?? "", result.conversationId);
  for await (const { line } of reading) grouping.add(line);
  expect(reading.end.skipped).toBe(0);
  const turns = grouping.turns.map(({ items }) => plain(items));
  expect(turns).toEqual([canonical.slice(0, 9), canonical.slice(9)]);
});

test.each(formats)("an imported $name conversation can be continued", async ({ name }) => {
  const { manager } = await openManager({ cwd: "/" });
  const result = await manager.importConversation(join(importFixtures, name));
  const conversation = await manager.resumeConversation(result.conversationId, {
    provider: "offline",
    model: "offline",
  });
  const before = plain(conversation.getHistory());
  expect(before.slice(-2)).toEqual(canonical.slice(-2));
  await conversation.processMessage("my name is Alice");
  const lines = await rolloutLines(conversation.rolloutPath);
  expect(lines.at(-1)).toMatchObject({ payload: { type: "task_complete" } });
  expect(plain(conversation.getHistory()).slice(0, before.length)).toEqual(before);
});

test("the model gets the history that a compaction kept", async () => {
  const { manager } = await openManager({ cwd: "/" });
  const { conversationId } = await manager.importConversation(join(importFixtures, "diligent-2.jsonl"));
  const conversation = await manager.resumeConversation(conversationId, { provider: "offline", model: "offline" });
  expect(plain(conversation.getHistory())).toEqual([
    { user: "[Session Summary]\nThey read two files.\n\n## Files Read\n- a.txt\n- b.txt" },
    ...canonical.slice(7),
  ]);
});
