import { appendFile, copyFile, mkdir, readdir, rename, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fileLines, foldLines } from "../../../src/actors/conversation/store/load-rollout.js";
import { CorruptedRolloutError } from "../../../src/base/errors.js";
import { type ResponseItem, messageText } from "../../../src/messages/response-item.js";
import { readRollout } from "../../../src/rollouts/file/read.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const fork = fileURLToPath(new URL("../../fixtures/codex/v0.166.0/fork/", import.meta.url));
const parentName = "rollout-2026-11-16T00-54-40-01a1e1d9-5bb7-7992-88a9-7e0b2d39fb94.jsonl";
const childName = "rollout-2026-11-16T00-54-41-01a1e1d9-5e25-7960-84cc-b82adde09eb8.jsonl";
const timestamp = "2026-11-16T00:00:00.000Z";

test.each([
  ["beside it", "sessions/2026/11/16", "sessions/2026/11/16"],
  ["on another day", "sessions/2026/11/16", "sessions/2025/01/02"],
  ["archived", "sessions/2026/11/16", "archived_sessions"],
  ["not archived, but the fork is", "archived_sessions", "sessions/2026/11/16"],
  ["without folders", "sessions", "sessions"],
  ["in a folder of our own", "conversations", "conversations"],
])("a fork contains its parent's history, with the parent %s", async (_where, childFolder, parentFolder) => {
  const home = await temporaryFolder();
  const child = await place(childName, join(home, childFolder));
  await place(parentName, join(home, parentFolder));
  const { history, meta } = await folded(child);
  expect(history).toHaveLength(12);
  expect(history).toEqual((await folded(fork + childName)).history);
  expect(meta?.id).toBe("01a1e1d9-5e25-7960-84cc-b82adde09eb8");
});

test("a parent with a cody file name is found too", async () => {
  const home = await temporaryFolder();
  const child = await place(childName, home);
  await rename(await place(parentName, home), join(home, "conv_01a1e1d9-5bb7-7992-88a9-7e0b2d39fb94.jsonl"));
  expect((await folded(child)).history).toHaveLength(12);
});

test("a fork is read with its own first line first and its own lines last, and ends at the end of its own file", async () => {
  const reading = readRollout(fork + childName, "conv");
  const types: string[] = [];
  for await (const { number, line } of reading) types.push(`${number} ${line.type}`);
  expect(types.slice(0, 2)).toEqual(["1 session_meta", "2 event_msg"]);
  expect(types.filter((type) => type.endsWith("session_meta"))).toHaveLength(1);
  expect(types.at(-1)).toBe("11 event_msg");
  expect(reading.end).toMatchObject({ bytes: (await stat(fork + childName)).size, torn: 0 });
});

test("a fork does not contain lines its parent got after the fork", async () => {
  const home = await temporaryFolder();
  const child = await place(childName, home);
  const parent = await place(parentName, home);
  await appendFile(parent, `${item("later")}\nbroken\n`);
  expect((await folded(child)).history).toHaveLength(12);
});

test("a fork of a fork of a fork contains the whole history", async () => {
  const home = await temporaryFolder();
  let base: Base | undefined;
  for (const number of [1, 2, 3, 4]) base = await write(home, number, [item(`said in ${number}`)], base);
  expect(texts((await folded(pathOf(home, 4))).history)).toEqual(["said in 1", "said in 2", "said in 3", "said in 4"]);
});

test("reading a long chain of reverts keeps few files open", async () => {
  const home = await temporaryFolder();
  let base: Base | undefined;
  for (let number = 1; number <= 300; number += 1) base = await write(home, number, [item(`${number}`)], base);
  const before = (await readdir("/proc/self/fd")).length;
  let most = 0;
  let count = 0;
  for await (const { line } of readRollout(pathOf(home, 300), "conv")) {
    if (line.type === "response_item") count += 1;
    most = Math.max(most, (await readdir("/proc/self/fd")).length);
  }
  expect(count).toBe(300);
  expect(most).toBeLessThan(before + 10);
});

test("the error of a missing parent names its file", async () => {
  const home = await temporaryFolder();
  const child = await place(childName, join(home, "sessions"));
  const failure = await failureOf(child);
  expect(failure).toBeInstanceOf(CorruptedRolloutError);
  expect(failure).toMatchObject({
    line: 1,
    message:
      "Conversation conv: line 1: its history starts in another rollout, which is missing: a file whose name ends in 01a1e1d9-5bb7-7992-88a9-7e0b2d39fb94.jsonl",
  });
});

test("a symlink in place of the parent is not followed", async () => {
  const home = await temporaryFolder();
  const child = await place(childName, home);
  await symlink(fork + parentName, join(home, parentName));
  expect(await failureOf(child)).toMatchObject({ name: "CorruptedRolloutError", line: 1 });
});

test("a truncated parent is refused", async () => {
  const home = await temporaryFolder();
  const child = await place(childName, home);
  const parent = await place(parentName, home);
  await truncate(parent, 40_000);
  expect(await failureOf(child)).toMatchObject({
    line: 1,
    detail: `its history starts with the first 47263 bytes of ${parentName}, which has only 40000`,
  });
});

test("an error about damage in the parent names its file and line", async () => {
  const home = await temporaryFolder();
  const base = await write(home, 1, [item("one"), "broken", item("two")]);
  await write(home, 2, [item("three")], base);
  expect(await failureOf(pathOf(home, 2))).toMatchObject({
    line: 1,
    detail: `its history starts in ${basename(pathOf(home, 1))}: line 3: not valid JSON: Unexpected token 'b'`,
  });
});

test("a history base that ends within a line is damage", async () => {
  const home = await temporaryFolder();
  const base = await write(home, 1, [item("one"), item("two")]);
  await write(home, 2, [item("three")], { ...base, end_byte_offset: base.end_byte_offset - 5 });
  expect(await failureOf(pathOf(home, 2))).toMatchObject({
    line: 1,
    detail: expect.stringContaining(
      `its history starts in ${basename(pathOf(home, 1))}: line 3: not valid JSON: Expected ',' or '}'`,
    ),
  });
});

test("rollouts whose history bases form a cycle are refused", async () => {
  const home = await temporaryFolder();
  await write(home, 1, [item("one")], baseOf(2, 10));
  await write(home, 2, [item("two")], baseOf(1, 10));
  await write(home, 3, [item("three")], baseOf(1, 10));
  await write(home, 4, [item("four")], baseOf(4, 10));
  for (const number of [1, 2, 3, 4]) {
    expect(await failureOf(pathOf(home, number))).toMatchObject({
      name: "CorruptedRolloutError",
      line: 1,
      detail: expect.stringContaining("refers to itself") as unknown,
    });
  }
});

test.each([
  ["a path", { thread_id: "../../etc/passwd", end_ordinal_exclusive: 1, end_byte_offset: 1 }],
  ["no offset", { thread_id: idOf(1), end_ordinal_exclusive: 1 }],
  ["a negative offset", { thread_id: idOf(1), end_ordinal_exclusive: 1, end_byte_offset: -1 }],
  ["text", "the other one"],
])("an invalid history base is refused and not skipped: %s", async (_name, base) => {
  const home = await temporaryFolder();
  await write(home, 1, [item("one")]);
  await write(home, 2, [item("two")], base as Base);
  expect(await failureOf(pathOf(home, 2))).toMatchObject({
    line: 1,
    detail: "this version does not support its way of storing the history",
  });
});

test("an unknown history mode is refused", async () => {
  const home = await temporaryFolder();
  const path = pathOf(home, 1);
  const payload = { ...metaOf(1), history_mode: "of_tomorrow" };
  await writeFile(path, `${JSON.stringify({ timestamp, type: "session_meta", payload })}\n${item("one")}\n`);
  expect(await failureOf(path)).toMatchObject({ line: 1, message: expect.not.stringContaining("tomorrow") as unknown });
});

test("a history base is used even if the rest of its line is invalid", async () => {
  const home = await temporaryFolder();
  const base = await write(home, 1, [item("one")]);
  const { cwd: _, ...payload } = { ...metaOf(2), history_base: base };
  await writeFile(pathOf(home, 2), `${JSON.stringify({ timestamp, type: "session_meta", payload })}\n${item("two")}\n`);
  expect(texts((await folded(pathOf(home, 2))).history)).toEqual(["one", "two"]);
});

test("a history base after lines of an older format is ignored", async () => {
  const home = await temporaryFolder();
  const turn = '{"timestamp":1,"items":[{"type":"message","role":"user","content":[{"type":"text","text":"one"}]}]}';
  const meta = { timestamp, type: "session_meta", payload: { ...metaOf(1), history_base: baseOf(9, 10) } };
  await writeFile(pathOf(home, 2), `${turn}\n${JSON.stringify(meta)}\n${item("two")}\n`);
  expect(texts((await folded(pathOf(home, 2))).history)).toEqual(["one", "two"]);
});

test("only the first line of a rollout can name a history base", async () => {
  const home = await temporaryFolder();
  const copied = { ...metaOf(1), history_base: baseOf(9, 10) };
  await write(home, 2, [JSON.stringify({ timestamp, type: "session_meta", payload: copied }), item("two")]);
  expect(texts((await folded(pathOf(home, 2))).history)).toEqual(["two"]);
});

test("skipped lines of a parent are counted", async () => {
  const home = await temporaryFolder();
  const unknown = JSON.stringify({ timestamp, type: "of_tomorrow", payload: {} });
  const base = await write(home, 1, [unknown, item("one")]);
  await write(home, 2, [item("two"), unknown], base);
  expect((await foldLines(fileLines(pathOf(home, 2), "conv"))).skipped).toBe(2);
});

interface Base {
  readonly thread_id: string;
  readonly end_ordinal_exclusive: number;
  readonly end_byte_offset: number;
}

async function place(name: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await copyFile(fork + name, join(folder, name));
  return join(folder, name);
}

/** Writes a rollout and returns the history base that covers all of it. */
async function write(home: string, number: number, lines: readonly string[], base?: Base): Promise<Base> {
  const payload = {
    ...metaOf(number),
    history_mode: "paginated",
    ...(base === undefined ? {} : { history_base: base }),
  };
  const text = [JSON.stringify({ timestamp, type: "session_meta", payload }), ...lines, ""].join("\n");
  await writeFile(pathOf(home, number), text);
  return baseOf(number, Buffer.byteLength(text));
}

function baseOf(number: number, bytes: number): Base {
  return { thread_id: idOf(number), end_ordinal_exclusive: 1, end_byte_offset: bytes };
}

function metaOf(number: number) {
  return { id: idOf(number), timestamp, cwd: "/", originator: "codex", cli_version: "0.166.0", source: "exec" };
}

function idOf(number: number): string {
  return `01a1e1d9-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

function pathOf(home: string, number: number): string {
  return join(home, `rollout-2026-11-16T00-00-00-${idOf(number)}.jsonl`);
}

function item(text: string): string {
  const payload = { type: "message", role: "user", content: [{ type: "input_text", text }] };
  return JSON.stringify({ timestamp, type: "response_item", payload });
}

async function folded(path: string) {
  return (await foldLines(fileLines(path, "conv"))).state;
}

function failureOf(path: string): Promise<unknown> {
  return folded(path).catch((error: unknown) => error);
}

function texts(history: readonly ResponseItem[]): string[] {
  return history.flatMap((one) => (one.type === "message" ? [messageText(one)] : []));
}
