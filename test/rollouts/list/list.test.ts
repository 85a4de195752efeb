import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConversationNotFoundError, InvalidInputError } from "../../../src/base/errors.js";
import { bundle } from "../../../scripts/bundle.mjs";
import { findConversation as find } from "../../../src/rollouts/list/find-conversation.js";
import { listConversations as listAsync } from "../../../src/rollouts/list/list.js";
import { listConversationsSync } from "../../../src/rollouts/list/list-sync.js";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cody-list-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const created = "2026-11-16T00:00:00.000Z";

function firstLine(
  metadata: object = { metadata: { provider: "openai", model: "gpt-4o", format: 1 } },
  filler = "",
): string {
  const payload = { id: "1", timestamp: created, cwd: "/project", filler };
  return `${JSON.stringify({ timestamp: created, type: "session_meta", ...metadata, payload })}\n`;
}

const userLine = `${JSON.stringify({
  timestamp: created,
  type: "response_item",
  payload: { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
})}\n`;

function titled(text: string): string {
  return userLine.replace('"hello"', JSON.stringify(text));
}

function turn(payload: object): string {
  return `${JSON.stringify({ timestamp: created, type: "turn_context", payload })}\n`;
}

const contextLine = userLine.replace("hello", "<environment_context>x</environment_context>");

function save(id: string, content: string, updatedAt = 1_000_000): string {
  const path = join(directory, `${id}.jsonl`);
  writeFileSync(path, content);
  utimesSync(path, updatedAt / 1000, updatedAt / 1000);
  return path;
}

const header = '{"version":3,"count":1,"folders":[],"open":[]}';

function cacheOf(...entries: readonly unknown[]): string {
  return `${[header, ...entries.map((entry) => JSON.stringify(entry))].join("\n")}\n`;
}

/** The synchronous and the asynchronous list must agree, with and without a cache. */
async function listConversations(folder: string, options: { limit?: number } = {}) {
  const listed = await listAsync(folder, options);
  expect(listConversationsSync(folder, options)).toEqual(listed);
  expect(listConversationsSync(folder, options)).toEqual(listed);
  return listed;
}

test("a directory that does not exist lists nothing", async () => {
  expect(await listConversations(join(directory, "none"))).toEqual([]);
});

test("conversations are listed newest first with the facts of their first line", async () => {
  const old = save("conv_old", firstLine() + userLine, 1_000_000);
  const young = save("conv_new", firstLine({}) + contextLine, 2_000_000);
  const facts = { createdAt: Date.parse(created), cwd: "/project", damaged: false };
  const labels = { provider: "openai", model: "gpt-4o", title: "hello" };
  expect(await listConversations(directory)).toEqual([
    { id: "conv_new", path: young, updatedAt: 2_000_000, size: lstatSync(young).size, ...facts, empty: true },
    { id: "conv_old", path: old, updatedAt: 1_000_000, size: lstatSync(old).size, ...facts, ...labels, empty: false },
  ]);
  expect((await listConversations(directory, { limit: 1 })).map(({ id }) => id)).toEqual(["conv_new"]);
});

test("damaged and unreadable files are listed as such, foreign files are not", async () => {
  save("conv_good", firstLine() + userLine, 9_000_000);
  save("conv_text", "this is no rollout\nat all\n", 8_000_000);
  save("conv_middle", `${firstLine()}{broken\n${userLine}`, 7_000_000);
  save("conv_empty", "", 6_000_000);
  save("conv_torn", firstLine().slice(0, 30), 5_000_000);
  symlinkSync(join(directory, "conv_good.jsonl"), join(directory, "conv_link.jsonl"));
  mkdirSync(join(directory, "conv_directory.jsonl"));
  execFileSync("mkfifo", [join(directory, "conv_pipe.jsonl")]);
  for (const name of ["conv_good.jsonl.lock", "conv_good.jsonl.torn-1", "notes.txt", ".hidden.jsonl", "a b.jsonl"]) {
    writeFileSync(join(directory, name), "x");
  }
  const listed = await listConversations(directory);
  expect(Object.fromEntries(listed.map(({ id, damaged, empty }) => [id, { damaged, empty }]))).toEqual({
    conv_good: { damaged: false, empty: false },
    conv_text: { damaged: true, empty: true },
    conv_middle: { damaged: false, empty: false },
    conv_empty: { damaged: false, empty: true },
    conv_torn: { damaged: false, empty: true },
    conv_link: { damaged: true, empty: false },
  });
});

test("cached files are not read again unless they have changed", async () => {
  const path = save("conv_one", firstLine());
  const other = save("conv_two", firstLine() + userLine);
  expect(listConversationsSync(directory).map(({ empty }) => empty)).toEqual([false, true]);
  // The inode is the same and the file is not smaller, so the cached head is used without the new provider.
  writeFileSync(other, firstLine({ metadata: { provider: "anthropic", model: "x", format: 1 } }, "filler") + userLine);
  writeFileSync(path, firstLine() + userLine);
  const listed = new Map(listConversationsSync(directory).map((summary) => [summary.id, summary]));
  expect(listed.get("conv_one")).toMatchObject({ empty: false });
  expect(listed.get("conv_two")).toMatchObject({ provider: "openai" });
});

test("an invalid cache is rebuilt, and listing works without a writable cache", async () => {
  save("conv_one", firstLine() + userLine);
  const older = '{"version":1,"entries":[["conv_one",1,1,{}]]}';
  for (const content of [
    "",
    "{",
    "[]",
    older,
    '{"version":4,"count":1,"folders":[],"open":[]}',
    `${header}\n{\n\n["`,
  ]) {
    writeFileSync(join(directory, ".heads.json"), content);
    expect(listConversationsSync(directory)).toHaveLength(1);
  }
  rmSync(join(directory, ".heads.json"));
  mkdirSync(join(directory, ".heads.json"));
  expect(listConversationsSync(directory)).toHaveLength(1);
  expect(readdirSync(directory).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("an invalid cache entry is ignored, and the others are used", async () => {
  const path = save("conv_one", firstLine() + userLine, 2_000_000);
  const { ino } = lstatSync(save("conv_two", firstLine() + userLine, 1_000_000));
  const known = { provider: "remembered", empty: false, damaged: false };
  const mtime = 2_000_000;
  const two = ["conv_two.jsonl", ino, 1, 1_000_000, known];
  const inode = lstatSync(path).ino;
  const strange = [
    null,
    [],
    ["conv_one.jsonl", inode, 1, mtime],
    ["conv_one.jsonl", inode, 1, mtime, null],
    ["conv_one.jsonl", inode, 1, mtime, []],
    ["conv_one.jsonl", inode, 1, mtime, { ...known, empty: 0 }],
    ["conv_one.jsonl", inode, 1, mtime, { ...known, damaged: undefined }],
    ["conv_one.jsonl", inode, 1, mtime, { ...known, provider: 1 }],
    ["conv_one.jsonl", inode, 1, mtime, { ...known, model: {} }],
    ["conv_one.jsonl", inode, 1, mtime, { ...known, cwd: null }],
    ["conv_one.jsonl", inode, 1, mtime, { ...known, title: 1 }],
    ["conv_one.jsonl", inode, 1, mtime, { ...known, createdAt: "now" }],
    ["conv_one.jsonl", `${inode}`, 1, mtime, known],
    ["conv_one.jsonl", inode, "1", mtime, known],
    ["conv_one.jsonl", inode, 1, null, known],
    [1, inode, 1, mtime, known],
  ];
  for (const entry of strange) {
    writeFileSync(join(directory, ".heads.json"), cacheOf(entry, two));
    expect(listConversationsSync(directory).map(({ provider }) => provider)).toEqual(["openai", "remembered"]);
  }
  const more = { ...known, id: "conv_three", path: "/etc/passwd", updatedAt: 0 };
  writeFileSync(join(directory, ".heads.json"), cacheOf(["conv_one.jsonl", inode, 1, mtime, more]));
  const { size } = lstatSync(path);
  expect(listConversationsSync(directory)[0]).toEqual({ id: "conv_one", path, updatedAt: 2_000_000, size, ...known });
});

test("a cache that is not a regular file, or is huge, is not read and is replaced", async () => {
  const path = save("conv_one", firstLine() + userLine);
  const cache = join(directory, ".heads.json");
  const head = { provider: "remembered", empty: false, damaged: false };
  const content = cacheOf(["conv_one.jsonl", lstatSync(path).ino, 1, 1_000_000, head]);
  const replaced = () => {
    expect(listConversationsSync(directory)).toMatchObject([{ id: "conv_one", provider: "openai" }]);
    expect(lstatSync(cache)).toSatisfy((stats: Stats) => stats.isFile() && stats.size < 1000);
    rmSync(cache);
  };
  execFileSync("mkfifo", [cache]);
  // A reader that blocks on the pipe would wait forever: a writer opens it after a second, so the test fails instead.
  const writer = spawn("timeout", ["2", "sh", "-c", 'sleep 1; printf %s "$1" > "$2"', "sh", content, cache]);
  replaced();
  writer.kill();
  writeFileSync(join(directory, "elsewhere"), content);
  symlinkSync(join(directory, "elsewhere"), cache);
  replaced();
  writeFileSync(cache, content.padEnd(33 * 1024 * 1024));
  replaced();
});

test("a long first line is read completely, up to a megabyte", async () => {
  save("conv_long", firstLine(undefined, "x".repeat(500_000)), 2_000_000);
  save("conv_longer", firstLine(undefined, "x".repeat(2_000_000)), 1_000_000);
  const [long, longer] = await listConversations(directory);
  expect(long).toMatchObject({ provider: "openai", empty: true, damaged: false });
  expect(longer).toMatchObject({ id: "conv_longer", empty: false, damaged: false });
});

test("the model is that of the last turn, also after a long turn and when the file has grown since the last list", async () => {
  const long = userLine.replace("hello", "x".repeat(20_000)).repeat(10);
  const said = titled('"turn_context" is a word, and {"type":"turn_context"} too');
  const path = save("conv_one", firstLine() + userLine + turn({ provider: "anthropic", model: "first" }) + long + said);
  expect(await listConversations(directory)).toMatchObject([{ provider: "anthropic", model: "first" }]);
  appendFileSync(path, turn({ model: "second" }) + long);
  expect(await listConversations(directory)).toMatchObject([{ provider: "openai", model: "second", title: "hello" }]);
  // An incomplete line is ignored.
  appendFileSync(path, turn({ provider: "openai", model: "third" }).slice(0, -1));
  expect(await listConversations(directory)).toMatchObject([{ provider: "openai", model: "second" }]);
  appendFileSync(path, "\n");
  expect(await listConversations(directory)).toMatchObject([{ provider: "openai", model: "third" }]);
});

test("a file that has grown is read again once it is on the listed page", () => {
  const path = save("conv_old", firstLine() + userLine, 1_000_000);
  save("conv_new", firstLine() + userLine, 2_000_000);
  expect(listConversationsSync(directory)).toMatchObject([{ id: "conv_new" }, { model: "gpt-4o" }]);
  appendFileSync(path, turn({ model: "later" }));
  utimesSync(path, 1_000, 1_000);
  expect(listConversationsSync(directory, { limit: 1 })).toMatchObject([{ id: "conv_new" }]);
  expect(listConversationsSync(directory)).toMatchObject([{ id: "conv_new" }, { model: "later" }]);
});

test("a model named further down is found near the beginning or from the end of the file", async () => {
  const context = `${JSON.stringify({ timestamp: created, type: "turn_context", payload: { model: "gpt-5" } })}\n`;
  const filler = userLine.replace("hello", "x".repeat(20_000));
  save("conv_near", firstLine({}, "x".repeat(30_000)) + filler + context + userLine, 2_000_000);
  save("conv_far", firstLine({}) + filler.repeat(5) + context + userLine, 1_000_000);
  expect((await listConversations(directory)).map(({ model, cwd }) => ({ model, cwd }))).toEqual([
    { model: "gpt-5", cwd: "/project" },
    { model: "gpt-5", cwd: "/project" },
  ]);
});

test("a title is the first line of the first user message, truncated to eighty characters", async () => {
  const event = { timestamp: created, type: "event_msg", payload: { type: "user_message", message: "from an event" } };
  const titles = {
    conv_a: [contextLine, titled("\n  first line  \r\nsecond line")],
    conv_b: [titled("x".repeat(81))],
    conv_c: [titled("😀".repeat(80))],
    conv_d: [titled(" \n ")],
    conv_g: [titled(`a "long" one${" and on".repeat(20_000)}`)],
    conv_h: [titled(`<environment_context>${"x".repeat(100_000)}</environment_context>`)],
    conv_e: [`${JSON.stringify(event)}\n`, titled("later")],
    // After eight kilobytes of other lines.
    conv_f: [contextLine.replace(">x<", `>${"x".repeat(9_000)}<`), titled("far"), contextLine.repeat(100)],
  };
  for (const [id, lines] of Object.entries(titles)) save(id, firstLine() + lines.join(""));
  const listed = await listConversations(directory);
  expect(Object.fromEntries(listed.toReversed().map(({ id, title }) => [id, title]))).toEqual({
    conv_a: "first line",
    conv_b: `${"x".repeat(79)}…`,
    conv_c: "😀".repeat(80),
    conv_d: undefined,
    conv_g: `a "long" one${" and on".repeat(9)} and…`,
    conv_h: undefined,
    conv_e: "from an event",
    conv_f: "far",
  });
});

test("the git branch and commit are listed", async () => {
  const git = '"cwd":"/project","git":{"branch":"main","commit_hash":"0123"}';
  save("conv_git", firstLine().replace('"cwd":"/project"', git) + userLine);
  expect(await listConversations(directory)).toMatchObject([{ gitBranch: "main", gitCommit: "0123" }]);
});

async function findConversation(folder: string, text: string): Promise<string> {
  return (await find([folder], text)).id;
}

test("a conversation is found by id, bare UUID or unique prefix", async () => {
  const one = "conv_01a1e1d7-dabe-7fa0-8c45-6d698618970c";
  const two = "conv_01a1e1d8-dabe-7fa0-8c45-6d698618970c";
  for (const id of [one, two, "mine", "mine-too"]) save(id, firstLine());
  expect(await findConversation(directory, one)).toBe(one);
  expect(await findConversation(directory, one.slice(5))).toBe(one);
  expect(await findConversation(directory, "01a1e1d7")).toBe(one);
  expect(await findConversation(directory, "conv_01a1e1d8")).toBe(two);
  expect(await findConversation(directory, "mine")).toBe("mine");
  await expect(findConversation(directory, "02")).rejects.toThrow(ConversationNotFoundError);
  await expect(findConversation(directory, "01a1e1d")).rejects.toThrow(InvalidInputError);
  await expect(findConversation(directory, "01a1e1d")).rejects.toThrow(
    `01a1e1d matches 2 conversations: ${one}, ${two}`,
  );
});

test("an ambiguous id names at most five matches", async () => {
  for (let number = 0; number < 7; number += 1) save(`same-${number}`, firstLine());
  await expect(findConversation(directory, "same")).rejects.toThrow(
    "same matches 7 conversations: same-0, same-1, same-2, same-3, same-4 and 2 more",
  );
});

test("a path is not accepted as an id", async () => {
  await expect(findConversation("/proc/none", "../../etc/passwd")).rejects.toThrow(ConversationNotFoundError);
  await expect(findConversation("/proc/none", "")).rejects.toThrow(ConversationNotFoundError);
});

test.each([
  "src/rollouts/list/list.ts",
  "src/rollouts/list/list-sync.ts",
  "src/rollouts/file/lock.ts",
  "src/actors/rollout-writer/rollout-writer.ts",
])("%s loads no schema library", async (entry) => {
  const modules = (await bundle({ format: "esm", input: { entry } })).flatMap(({ moduleIds }) => moduleIds);
  expect(modules.filter((name) => name.includes("zod"))).toEqual([]);
  expect(modules.some((name) => name.endsWith(entry))).toBe(true);
});
