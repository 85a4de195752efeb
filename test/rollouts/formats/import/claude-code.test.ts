import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openManager } from "../../../support/open-conversation.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { plain } from "./canonical-conversation.js";
import {
  importedItems,
  importFile,
  replacedHistories,
  importFixture,
  importFixtures,
  sourceOf,
} from "./import-fixture.js";

const session = "11111111-2222-4333-8444-555555555555";
const model = "claude-sonnet-4-5";
let made = 0;

/** A line in Claude Code's format that follows the given one. */
function entry(parent: { readonly uuid: string } | null, fields: object) {
  made += 1;
  const uuid = `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`;
  const timestamp = new Date(Date.parse("2026-01-01") + made * 1000).toISOString();
  const place = { sessionId: session, cwd: "/projects/site", isSidechain: false };
  return { parentUuid: parent?.uuid ?? null, uuid, timestamp, ...place, ...fields };
}

const user = (parent: ReturnType<typeof entry> | null, content: unknown, more: object = {}) =>
  entry(parent, { type: "user", message: { role: "user", content }, ...more });
const said = (parent: ReturnType<typeof entry> | null, id: string, block: object, more: object = {}) =>
  entry(parent, { type: "assistant", message: { id, role: "assistant", model, content: [block] }, ...more });
const text = (words: string) => ({ type: "text", text: words });
const call = (id: string, command: string) => ({ type: "tool_use", id, name: "Bash", input: { command } });
const result = (id: string, words: string) => [{ type: "tool_result", tool_use_id: id, content: words }];

async function read(lines: readonly (object | string)[]) {
  const { result: imported, lines: written } = await importFile(await sourceOf(lines));
  return { plain: plain(importedItems(written)), losses: imported.losses, imported, items: importedItems(written) };
}

test("a Claude Code session with a sub-agent, an image, a compaction and a branch is imported", async () => {
  const { result: imported, lines } = await importFixture("claude-code-compacted.jsonl");
  expect(imported.losses.counts).toEqual({
    abandoned_entries: 2,
    attachments: 4,
    local_commands: 2,
    synthetic_messages: 1,
    system_notes: 2,
    tool_details: 4,
    usage: 9,
  });
  const items = plain(importedItems(lines));
  expect(items.slice(11, 19)).toEqual([
    { user: "Ask an agent about c.txt" },
    { thought: "An agent can look." },
    { assistant: "I ask an agent." },
    { call: "agent", command: undefined },
    { output: "c.txt is not there.", of: undefined },
    { assistant: "The agent says there is no c.txt." },
    { user: "What is this?" },
    { assistant: "A picture of one dot." },
  ]);
  const image = importedItems(lines)[17];
  expect(image).toMatchObject({
    content: [{ type: "input_text" }, { image_url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) }],
  });
  expect(replacedHistories(lines)).toEqual([
    [
      { user: "Summary:\nThey read a.txt (alpha) and b.txt (beta); alpha is longer." },
      { assistant: "A picture of one dot." },
    ],
  ]);
  expect(items.slice(19, 22)).toEqual([
    { developer: "Continue from where you left off." },
    { user: "And which is longer?" },
    { assistant: "After it: alpha." },
  ]);
  expect(JSON.stringify(items)).not.toContain("A branch.");
});

test("thinking keeps its signature, and redacted thinking stays encrypted", async () => {
  const first = user(null, "hi");
  const second = said(first, "m1", { type: "thinking", thinking: "Hm.", signature: "sig" });
  const third = said(second, "m1", { type: "redacted_thinking", data: "sealed" });
  const { items } = await read([first, second, third, said(third, "m1", text("hello"))]);
  const origin = { api: "messages", model };
  expect(items.slice(1, 3)).toEqual([
    {
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: "Hm." }],
      encrypted_content: "sig",
      origin,
    },
    { type: "reasoning", summary: [], encrypted_content: "sealed", origin },
  ]);
});

test("in the Codex layout imported thinking is shown but not part of the history", async () => {
  const first = user(null, "hi");
  const second = said(first, "m1", { type: "thinking", thinking: "Hm.", signature: "sig" });
  const path = await sourceOf([first, second, said(second, "m1", text("hello"))]);
  const codexHome = await temporaryFolder();
  const { manager } = await openManager({
    env: { CODEX_HOME: codexHome, PATH: process.env["PATH"] },
    config: { persistence: { layout: "codex" } },
  });
  const imported = await manager.importConversation(path);
  expect(imported).toMatchObject({ items: 2, losses: { counts: { thoughts: 1 } } });
  expect(imported).toMatchObject({ rolloutPath: expect.stringContaining(join(codexHome, "sessions", "2026")) });
});

test("results recorded before the model's last call are placed after all its calls", async () => {
  const first = user(null, "both");
  const one = said(first, "m1", call("c1", "one"));
  const early = user(one, result("c1", "1"));
  const two = said(one, "m1", call("c2", "two"));
  const late = user(two, result("c2", "2"));
  const { plain: items } = await read([first, one, early, two, late, said(late, "m2", text("done"))]);
  expect(items).toEqual([
    { user: "both" },
    { call: "bash", command: "one" },
    { call: "bash", command: "two" },
    { output: "1", of: "one" },
    { output: "2", of: "two" },
    { assistant: "done" },
  ]);
});

test("sub-agents in the file and in separate files are counted and left out", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, `${session}.jsonl`);
  await mkdir(join(folder, session, "subagents"), { recursive: true });
  await copyFile(join(importFixtures, "claude-code-agent.jsonl"), join(folder, session, "subagents", "agent-1.jsonl"));
  const first = user(null, "hi");
  const aside = user(null, "look", { isSidechain: true });
  const lines = [
    first,
    aside,
    said(aside, "a1", text("looked"), { isSidechain: true }),
    said(first, "m1", text("yes")),
  ];
  await writeFile(path, lines.map((line) => JSON.stringify(line)).join("\n"));
  const { result: imported, lines: written } = await importFile(path);
  expect(plain(importedItems(written))).toEqual([{ user: "hi" }, { assistant: "yes" }]);
  expect(imported.losses.counts).toEqual({ sidechain_entries: 2, subagent_files: 1 });
});

test("slash commands sent to the model are imported, and local commands are left out", async () => {
  const ran = user(null, "<command-name>/model</command-name>\n<command-args></command-args>");
  const printed = user(ran, "<local-command-stdout>Set model</local-command-stdout>");
  const asked = user(
    printed,
    "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>a.ts</command-args>",
  );
  const meant = user(asked, [text("Review the file a.ts carefully.")], { isMeta: true });
  const { plain: items, losses, imported } = await read([ran, printed, asked, meant, said(meant, "m1", text("Fine."))]);
  expect(items).toEqual([
    { user: "/review a.ts" },
    { developer: "Review the file a.ts carefully." },
    { assistant: "Fine." },
  ]);
  expect({ turns: imported.turns, counts: losses.counts }).toEqual({ turns: 1, counts: { local_commands: 1 } });
});

test("the custom title is the name, otherwise the generated one", async () => {
  const first = user(null, "hi");
  const lines = [
    { type: "summary", summary: "An old title", leafUuid: first.uuid },
    first,
    said(first, "m1", text("hello")),
    { type: "ai-title", aiTitle: "A made-up title", sessionId: session },
  ];
  expect((await read(lines)).imported.name).toBe("A made-up title");
  const named = [...lines, { type: "custom-title", customTitle: "Mine\u0007", sessionId: session }];
  expect((await read(named)).imported.name).toBe("Mine");
  expect((await read(lines.slice(0, 3))).imported.name).toBe("An old title");
});

test("damaged, torn and duplicate lines are skipped without losing others", async () => {
  const first = user(null, "one");
  const second = said(first, "m1", text("lost"));
  const third = user(second, "two");
  const fourth = said(third, "m2", text("kept"));
  const { plain: items, losses } = await read([
    first,
    JSON.stringify(second).slice(0, 80),
    third,
    third,
    fourth,
    { type: "of-tomorrow", sessionId: session },
    { type: "file-history-snapshot", messageId: "x", snapshot: {} },
  ]);
  expect(items).toEqual([{ user: "one" }, { user: "two" }, { assistant: "kept" }]);
  expect(losses).toEqual({
    counts: { duplicates: 1, file_snapshots: 1, unknown_lines: 1 },
    damaged: [{ line: 2, detail: "not valid JSON: Unterminated string in JSON at position 80" }],
    damagedCount: 1,
  });
});

test("content that no item can hold is counted by kind", async () => {
  const first = user(null, [
    text("see"),
    { type: "document", source: {} },
    { type: "image", source: { type: "file" } },
  ]);
  const second = said(first, "m1", { type: "server_tool_use", id: "s", name: "web_search", input: {} });
  const third = said(second, "m1", { type: "of_tomorrow" });
  const fourth = said(third, "m1", call("open", "sleep"));
  const fifth = user(fourth, [{ type: "tool_result", tool_use_id: "nobody", content: "?", is_error: true }]);
  const { losses, plain: items } = await read([first, second, third, fourth, fifth]);
  expect(items).toEqual([{ user: "see" }, { call: "bash", command: "sleep" }]);
  expect(losses.counts).toEqual({
    documents: 1,
    error_marks: 1,
    images: 1,
    server_tools: 1,
    stray_outputs: 1,
    unanswered_calls: 1,
    unknown_parts: 1,
  });
});

test("entries without parents are read in the order of the file", async () => {
  const lines = [
    user(null, "one"),
    said(null, "m1", text("first")),
    said(null, "m1", call("c1", "ls")),
    user(null, result("c1", "a.txt")),
    said(null, "m2", text("second")),
    user(null, "two"),
    said(null, "m3", text("third")),
  ];
  const expected = [
    { user: "one" },
    { assistant: "first" },
    { call: "bash", command: "ls" },
    { output: "a.txt", of: "ls" },
    { assistant: "second" },
    { user: "two" },
    { assistant: "third" },
  ];
  const withoutKeys = (...keys: readonly string[]) =>
    lines.map((line) => Object.fromEntries(Object.entries(line).filter(([key]) => !keys.includes(key))));
  for (const source of [lines, withoutKeys("parentUuid"), withoutKeys("parentUuid", "uuid")]) {
    const { plain: items, losses } = await read(source);
    expect(items).toEqual(expected);
    expect(losses.counts).toEqual({});
  }
});

test("an entry without a parent among entries with parents follows the entry before it", async () => {
  const first = user(null, "one");
  const second = said(first, "m1", text("first"));
  const { parentUuid: _, ...third } = user(second, "two");
  const { plain: items } = await read([first, second, third]);
  expect(items).toEqual([{ user: "one" }, { assistant: "first" }, { user: "two" }]);
});
