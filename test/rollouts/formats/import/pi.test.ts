import { expect, test } from "vitest";
import { canonical, plain } from "./canonical-conversation.js";
import { importedItems, importFile, importFixture, replacedHistories, sourceOf } from "./import-fixture.js";

const time = (seconds: number) => new Date(Date.parse("2026-01-01") + seconds * 1000).toISOString();
const header = { type: "session", version: 3, id: "p", timestamp: time(0), cwd: "/projects/site" };
const ask = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
const answer = (text: string) => ({ role: "assistant", content: [{ type: "text", text }], api: "openai-completions" });

/** Entries of a tree; each follows the entry before it unless it has its own parent. */
function tree(entries: readonly object[]): object[] {
  return entries.map((entry, at) => ({
    id: id(at),
    parentId: at === 0 ? null : id(at - 1),
    timestamp: time(at + 1),
    ...entry,
  }));
}

const id = (at: number) => (at + 1).toString(16).padStart(8, "0");

async function read(lines: readonly (object | string)[]) {
  const { result, lines: written } = await importFile(await sourceOf(lines));
  const items = importedItems(written);
  return { items, plain: plain(items), result, counts: result.losses.counts, replaced: replacedHistories(written) };
}

test("a pi session of the Responses API keeps encrypted content and call ids", async () => {
  const { result, lines } = await importFixture("pi-responses.jsonl");
  const items = importedItems(lines);
  expect(plain(items.slice(0, canonical.length))).toEqual(canonical);
  expect(items.slice(11)).toMatchObject([
    { role: "user" },
    {
      type: "reasoning",
      summary: [{ text: "Hm." }],
      encrypted_content: expect.stringMatching(/^gAAAA/),
      origin: { api: "responses", model: "mock-2" },
    },
    { role: "assistant" },
    { type: "function_call", call_id: "call_03", name: "read" },
    { type: "function_call_output", call_id: "call_03", output: "alpha\n" },
    { role: "assistant" },
  ]);
  expect(items[1]).toMatchObject({
    encrypted_content: expect.any(String),
    origin: { api: "messages", model: "mock-1" },
  });
  expect(result.turns).toBe(3);
});

test("an abandoned branch is left out, and its summary is imported", async () => {
  const { plain: items, counts } = await read([
    header,
    ...tree([
      { type: "message", message: ask("one") },
      { type: "message", message: answer("a wrong way") },
      { type: "message", message: ask("further") },
      { type: "branch_summary", parentId: id(0), fromId: id(2), summary: "It led nowhere." },
      { type: "message", message: answer("the right way") },
      { type: "label", targetId: id(0), label: "start" },
      { type: "custom", customType: "x", data: {} },
      { type: "custom_message", customType: "x", content: "Mind the gap.", display: true },
      { type: "session_info", name: "Ways" },
    ]),
  ]);
  expect(items).toEqual([
    { user: "one" },
    { developer: "[Summary of another branch]\nIt led nowhere." },
    { assistant: "the right way" },
    { developer: "Mind the gap." },
  ]);
  expect(counts).toEqual({ abandoned_entries: 2, extension_data: 1, labels: 1 });
});

test("a compaction keeps the entries it names, and its files once", async () => {
  const { plain: items, replaced } = await read([
    header,
    ...tree([
      { type: "message", message: ask("one") },
      { type: "message", message: answer("first") },
      { type: "message", message: ask("two") },
      { type: "message", message: answer("second") },
      {
        type: "compaction",
        summary: "They counted.\n\n<read-files>\na.txt\n</read-files>",
        firstKeptEntryId: id(2),
        tokensBefore: 100,
        details: { readFiles: ["a.txt"], modifiedFiles: [] },
      },
      { type: "message", message: ask("three") },
    ]),
  ]);
  expect(items).toHaveLength(5);
  expect(replaced).toEqual([
    [
      { user: "[Session Summary]\nThey counted.\n\n<read-files>\na.txt\n</read-files>" },
      { user: "two" },
      { assistant: "second" },
    ],
  ]);
});

test("a session of the first version, without ids, is read in order", async () => {
  const {
    plain: items,
    replaced,
    result,
  } = await read([
    {
      type: "session",
      id: "p1",
      timestamp: time(0),
      cwd: "/projects/site",
      provider: "anthropic",
      modelId: "claude-x",
    },
    { type: "message", timestamp: time(1), message: { role: "user", content: "one" } },
    { type: "message", timestamp: time(2), message: answer("first") },
    { type: "compaction", timestamp: time(3), summary: "They began.", firstKeptEntryIndex: 2, tokensBefore: 9 },
    { type: "message", timestamp: time(4), message: { role: "user", content: "two" } },
  ]);
  expect(result).toMatchObject({ format: "pi", turns: 2, losses: { counts: {} } });
  expect(items).toEqual([{ user: "one" }, { assistant: "first" }, { user: "two" }]);
  expect(replaced).toEqual([[{ user: "[Session Summary]\nThey began." }, { assistant: "first" }]]);
});

test("user shell commands are imported in Codex's format and start no turn", async () => {
  const ran = {
    role: "bashExecution",
    command: "ls",
    output: "a.txt",
    exitCode: 0,
    cancelled: false,
    truncated: false,
  };
  const {
    plain: items,
    counts,
    result,
  } = await read([
    { ...header, version: 2 },
    ...tree([
      { type: "message", message: ask("one") },
      { type: "message", message: answer("first") },
      { type: "message", message: ran },
      { type: "message", message: { ...ran, excludeFromContext: true } },
      { type: "message", message: { role: "hookMessage", customType: "x", content: "Told.", display: false } },
      { type: "message", message: { role: "of tomorrow" } },
    ]),
  ]);
  const told =
    "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\nOutput:\na.txt\n</result>\n</user_shell_command>";
  expect(items.slice(2)).toEqual([{ user: told }, { developer: "Told." }]);
  expect({ counts, turns: result.turns }).toEqual({ counts: { excluded: 1, unknown_parts: 1 }, turns: 1 });
});

test("images of users and tools are imported", async () => {
  const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
  const { items, counts } = await read([
    header,
    ...tree([
      { type: "message", message: { role: "user", content: [{ type: "text", text: "look" }, image] } },
      {
        type: "message",
        message: {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", thinkingSignature: "of another" },
            { type: "toolCall", id: "c", name: "shot", arguments: {} },
          ],
          api: "google-generative-ai",
          model: "g",
        },
      },
      {
        type: "message",
        message: {
          role: "toolResult",
          toolCallId: "c",
          content: [{ type: "text", text: "here" }, image, { type: "image" }],
          details: {},
          isError: true,
        },
      },
    ]),
  ]);
  const url = "data:image/png;base64,iVBORw0KGgo=";
  expect(items).toMatchObject([
    { content: [{ text: "look" }, { type: "input_image", image_url: url }] },
    { type: "reasoning", content: [{ text: "Hm." }] },
    { type: "function_call" },
    { output: [{ text: "here" }, { type: "input_image", image_url: url }] },
  ]);
  expect(items[1]).not.toHaveProperty("encrypted_content");
  expect(counts).toEqual({ error_marks: 1, images: 1, signatures: 1, tool_details: 1 });
});

test("an entry whose parent is lost follows the entry before it", async () => {
  const [first = {}, second = {}, third = {}] = tree([
    { type: "message", message: ask("one") },
    { type: "message", message: answer("lost") },
    { type: "message", message: ask("two") },
  ]);
  const { plain: items, result } = await read([header, first, JSON.stringify(second).slice(0, -9), third]);
  expect(items).toEqual([{ user: "one" }, { user: "two" }]);
  expect(result.losses).toMatchObject({
    damaged: [{ line: 3, detail: expect.stringContaining("not valid JSON: ") }],
    damagedCount: 1,
  });
});
