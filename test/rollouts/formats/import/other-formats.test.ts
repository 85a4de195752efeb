import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRollout } from "../../../../src/rollouts/file/read.js";
import { apply, emptyState } from "../../../../src/actors/conversation/state/state.js";
import { putCodexRollouts } from "../../../support/codex-home.js";
import { openManager } from "../../../support/open-conversation.js";
import { assistant, user } from "../../../support/scripted-provider.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { canonical, plain } from "./canonical-conversation.js";
import { importedItems, importFile, importFixtures, sourceOf } from "./import-fixture.js";

async function historyOf(path: string | null): Promise<unknown[]> {
  const state = emptyState();
  for await (const { line } of readRollout(path ?? "", "conv_x")) apply(state, line);
  return state.history;
}

test.each(["v0.58.0/tools", "v0.147.0/compact-twice", "v0.166.0/fork", "v0.166.0/revert", "v0.166.0/compact-remote"])(
  "an imported Codex rollout (%s) has the same history",
  async (scenario) => {
    for (const { path } of await putCodexRollouts(await temporaryFolder(), scenario)) {
      const { result, lines } = await importFile(path);
      expect(await historyOf(result.rolloutPath)).toEqual(await historyOf(path));
      expect(lines.filter(({ type }) => type === "session_meta")).toHaveLength(1);
      expect(lines[0]?.payload).not.toHaveProperty("history_mode");
    }
  },
);

test("a rollout whose parent is missing is refused", async () => {
  const path = await sourceOf([
    {
      timestamp: "2026-01-01T00:00:00.000Z",
      type: "session_meta",
      payload: {
        id: "01a1e1e8-ccbc-77c1-8f8d-128974531832",
        timestamp: "2026-01-01T00:00:00.000Z",
        cwd: "/",
        originator: "x",
        cli_version: "1",
        history_mode: "paginated",
        history_base: {
          thread_id: "01a1e1e8-0000-7000-8f8d-128974531832",
          end_ordinal_exclusive: 3,
          end_byte_offset: 9,
        },
      },
    },
  ]);
  await expect(importFile(path)).rejects.toThrow("its history starts in another rollout, which is missing");
});

test("a cody conversation is imported into another home, and recognised in its own", async () => {
  const { manager } = await openManager({ cwd: "/" });
  const { conversation } = await manager.newConversation({ provider: "offline", model: "offline", name: "Alice" });
  await conversation.processMessage("my name is Alice");
  const history = conversation.getHistory();
  const path = conversation.rolloutPath ?? "";
  await manager.shutdown();
  const { result } = await importFile(path);
  expect(result).toMatchObject({ conversationId: conversation.id, name: "Alice", turns: 1 });
  expect(await historyOf(result.rolloutPath)).toEqual(history);
  const { manager: again } = await openManager({ home: join(path, "..", "..") });
  expect(await again.importConversation(path)).toEqual({
    status: "here",
    path,
    format: "codex",
    conversationId: conversation.id,
  });
  const copied = await again.importConversation(path, { force: true });
  expect(copied).toMatchObject({ status: "imported" });
  expect(copied.conversationId).not.toBe(conversation.id);
});

test("a file in an older format that cody continued in its own format is one conversation", async () => {
  const path = join(await temporaryFolder(), "mixed.jsonl");
  const more = [user("three"), assistant("third")].map((payload) =>
    JSON.stringify({ timestamp: "2026-03-01T00:00:00.000Z", type: "response_item", payload }),
  );
  for (const name of ["diligent-1.jsonl", "envoy.jsonl", "turns.jsonl"]) {
    await writeFile(path, `${await readFile(join(importFixtures, name), "utf8")}${more.join("\n")}\n`);
    const { lines } = await importFile(path);
    expect(plain(importedItems(lines))).toEqual([...canonical, { user: "three" }, { assistant: "third" }]);
  }
});

test("a compaction in the turns format stays a compaction", async () => {
  const path = join(importFixtures, "..", "forms", "turns-compacted.jsonl");
  const { result } = await importFile(path);
  expect(await historyOf(result.rolloutPath)).toEqual(await historyOf(path));
});

test("an Envoy message with a call and its result becomes two items", async () => {
  const { result, lines } = await importFile(join(importFixtures, "..", "forms", "messages.jsonl"));
  expect(plain(importedItems(lines)).slice(2, 4)).toEqual([
    { call: "read", command: undefined },
    { output: "// App.tsx content here...", of: undefined },
  ]);
  expect(result.losses.counts).toEqual({ signatures: 1 });
});

test("JSON in the format of chat APIs is imported, with images and unknown content", async () => {
  const path = await sourceOf(
    [
      JSON.stringify({
        title: "A picture",
        messages: [
          { role: "system", content: "You are." },
          { role: "developer", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "look" },
              { type: "image_url", image_url: { url: "https://example.com/a.png" } },
              { type: "video" },
            ],
          },
          { role: "assistant", content: null, tool_calls: [{ id: "c", name: "see", input: { a: 1 } }] },
          { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "seen" }] },
          { role: "assistant", reasoning_content: "Hm.", content: "A dot." },
          { role: "oracle" },
          7,
        ],
      }),
    ],
    "chat.json",
  );
  const { result, lines } = await importFile(path);
  expect(importedItems(lines)).toMatchObject([
    { role: "developer" },
    { role: "user", content: [{ text: "look" }, { type: "input_image", image_url: "https://example.com/a.png" }] },
    { type: "function_call", call_id: "c", name: "see", arguments: '{"a":1}' },
    { type: "function_call_output", call_id: "c", output: "seen" },
    { type: "reasoning", content: [{ text: "Hm." }] },
    { role: "assistant", content: [{ text: "A dot." }] },
  ]);
  expect(result).toMatchObject({ name: "A picture", losses: { counts: { system_messages: 1, unknown_parts: 3 } } });
});

const serdeMessages = [
  { User: { content: "list", attachments: [{ type: "input_image", image_url: "https://example.com/a.png" }] } },
  { Tool: { call_id: "call_1", name: "bash", result: "a.txt" } },
  { Assistant: { content: "One file.", reasoning: "I looked." } },
];

test.each([
  [
    "in a history",
    { turns: [{ turn_id: "t", messages: serdeMessages, tool_calls: [] }], max_turns: 9, total_tokens: 0 },
  ],
  ["in a list", serdeMessages],
])(
  "messages in serde's default format %s are imported; a result without its call keeps its tool's name",
  async (_, value) => {
    const { result, lines } = await importFile(await sourceOf([JSON.stringify(value, null, 2)], "history.json"));
    expect(importedItems(lines)).toMatchObject([
      { role: "user", content: [{ text: "list" }, { type: "input_image", image_url: "https://example.com/a.png" }] },
      { type: "function_call", call_id: "call_1", name: "bash", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "a.txt" },
      { type: "reasoning", content: [{ text: "I looked." }] },
      { role: "assistant", content: [{ text: "One file." }] },
    ]);
    expect(result.losses.counts).toEqual({ tool_details: 1 });
  },
);

test("an incomplete import is distinguished from a complete one", async () => {
  const { manager, home } = await openManager({});
  const path = join(importFixtures, "pi.jsonl");
  const first = await manager.importConversation(path);
  const rollout = join(home, "conversations", `${first.conversationId}.jsonl`);
  const lines = (await readFile(rollout, "utf8")).split("\n");
  await writeFile(rollout, `${lines.slice(0, 6).join("\n")}\n`);
  expect(await manager.importConversation(path)).toMatchObject({ status: "exists", complete: false });
});

const chat = (text: string, facts: object = {}): string =>
  JSON.stringify({
    ...facts,
    messages: [
      { role: "system", content: "s".repeat(70_000) },
      { role: "user", content: text },
    ],
  });

test("two conversations without an id that start with the same text are imported separately", async () => {
  const { manager } = await openManager({});
  const [one, other] = [await sourceOf([chat("one")], "one.json"), await sourceOf([chat("two")], "two.json")];
  const first = await manager.importConversation(one);
  const second = await manager.importConversation(other);
  expect([first, second]).toMatchObject([{ status: "imported" }, { status: "imported" }]);
  expect(await manager.importConversation(one)).toMatchObject({
    status: "exists",
    conversationId: first.conversationId,
    grown: false,
  });
});

test("two JSONL sessions without an id that start with the same line are imported separately", async () => {
  const { manager } = await openManager({});
  const timestamp = "2026-01-01T00:00:00.000Z";
  const said = (content: string) => ({ type: "message", timestamp, message: { role: "user", content } });
  const results = [];
  for (const text of ["two", "three"]) {
    results.push(await manager.importConversation(await sourceOf([said("one"), said(text)])));
  }
  expect(results).toMatchObject([{ status: "imported" }, { status: "imported" }]);
});

test("a source with its own session id is recognised after it has grown", async () => {
  const { manager } = await openManager({});
  const facts = { session_id: "work", created_at: "2026-01-01T00:00:00.000Z" };
  const first = await manager.importConversation(await sourceOf([chat("one", facts)], "a.json"));
  expect(await manager.importConversation(await sourceOf([chat("one and more", facts)], "a.json"))).toMatchObject({
    status: "exists",
    conversationId: first.conversationId,
    grown: true,
  });
});

test("an export of an unnamed conversation is imported without a name and without losses", async () => {
  const { manager } = await openManager({});
  const { conversation } = await manager.newConversation({ provider: "offline", model: "offline" });
  await conversation.processMessage("my name is Alice");
  const pieces: string[] = [];
  for await (const piece of await manager.exportConversation(conversation.id, { format: "json" })) pieces.push(piece);
  const { result } = await importFile(await sourceOf([pieces.join("")], "export.json"));
  expect(result).toMatchObject({ conversationId: conversation.id, turns: 1 });
  expect(result.losses.counts).toEqual({});
  expect(result).not.toHaveProperty("name");
});

test("a Codex first line without a source is not counted as unknown", async () => {
  const timestamp = "2026-01-01T00:00:00.000Z";
  const id = "01a1e1e8-ccbc-77c1-8f8d-128974531832";
  const meta = { id, timestamp, cwd: "/projects/site", originator: "codex_cli_rs", cli_version: "0.40.0" };
  const { result, lines } = await importFile(
    await sourceOf([
      { timestamp, type: "session_meta", payload: meta },
      { timestamp, type: "response_item", payload: user("hello") },
    ]),
  );
  expect(result).toMatchObject({ conversationId: `conv_${id}`, losses: { counts: {}, damagedCount: 0 } });
  expect(lines[0]?.payload).toMatchObject({ id, cwd: "/projects/site" });
});
