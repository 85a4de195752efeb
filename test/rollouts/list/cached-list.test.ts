import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { cachedPage } from "../../../src/rollouts/list/cached-list.js";
import { listConversationsSync } from "../../../src/rollouts/list/list-sync.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const count = 60;
const line = `${JSON.stringify({ timestamp: "", type: "event_msg", payload: { type: "user_message", message: "hi" } })}\n`;

let directory = "";
let cache = "";
beforeEach(async () => {
  const folder = await temporaryFolder();
  directory = join(folder, "conversations");
  cache = join(folder, "heads.json");
  mkdirSync(join(directory, 'a "project"'), { recursive: true });
  for (let index = 0; index < count; index += 1) {
    const path = join(directory, ...(index % 2 === 0 ? [] : ['a "project"']), `conv_${idOf(index)}.jsonl`);
    writeFileSync(path, line);
    utimesSync(path, 1_000 + index, 1_000 + index);
  }
});

function idOf(index: number): string {
  return String(index).padStart(4, "0");
}

/** A time long after the last change in the folders. */
function later(): { now: number } {
  return { now: Math.max(...["", 'a "project"'].map((name) => statSync(join(directory, name)).mtimeMs)) + 3_000 };
}

function knownList(...args: Parameters<typeof cachedPage>) {
  return cachedPage(...args)?.conversations;
}

function list(options: { limit?: number; after?: { updatedAt: number; id: string } } = {}) {
  return listConversationsSync(directory, { cache, own: later(), ...options });
}

test("a cached page equals a page read from disk", () => {
  expect(knownList(directory, cache, {})).toBeUndefined();
  const all = listConversationsSync(directory);
  expect(list()).toEqual(all);
  expect(knownList(directory, cache, {})).toEqual(all);
  expect(cachedPage(directory, cache, { limit: 3 })?.total).toBe(count);
  expect(list({ limit: 3 })).toEqual(all.slice(0, 3));
  const [, , third] = all;
  expect(knownList(directory, cache, { limit: 2, ...(third === undefined ? {} : { after: third }) })).toEqual(
    all.slice(3, 5),
  );
});

test("conversations beyond the cached page are read from disk", () => {
  expect(list({ limit: 2 })).toHaveLength(2);
  expect(knownList(directory, cache, { limit: 2 })).toHaveLength(2);
  expect(knownList(directory, cache, { limit: 3 })).toBeUndefined();
  expect(list({ limit: 3 })).toHaveLength(3);
  expect(knownList(directory, cache, { limit: 3 })).toHaveLength(3);
});

test("new, deleted and changed files on the page are detected", () => {
  list();
  const fresh = join(directory, "conv_fresh.jsonl");
  writeFileSync(fresh, line);
  expect(list({ limit: 1 })).toMatchObject([{ id: "conv_fresh" }]);
  rmSync(fresh);
  expect(list({ limit: 1 })).toMatchObject([{ id: `conv_${idOf(count - 1)}` }]);
  expect(knownList(directory, cache, { limit: 1 })).toHaveLength(1);
  appendFileSync(join(directory, 'a "project"', `conv_${idOf(count - 1)}.jsonl`), line);
  expect(knownList(directory, cache, { limit: 1 })).toBeUndefined();
  expect(list({ limit: 1 })).toMatchObject([{ id: `conv_${idOf(count - 1)}`, size: 2 * line.length }]);
});

test("a locked conversation is checked again, and moves to the top when it has changed", () => {
  const open = join(directory, `conv_${idOf(0)}.jsonl`);
  list();
  writeFileSync(`${open}.lock`, "{}");
  expect(list({ limit: 1 })).toMatchObject([{ id: `conv_${idOf(count - 1)}` }]);
  expect(knownList(directory, cache, { limit: 1 })).toHaveLength(1);
  appendFileSync(open, line);
  expect(list({ limit: 1 })).toMatchObject([{ id: `conv_${idOf(0)}` }]);
});

test("a folder that changed just now is not cached, because its time may not show another change", () => {
  listConversationsSync(directory, { cache, own: { now: later().now - 2_000 } });
  expect(readFileSync(cache, "utf8")).toMatch(/^\{"version":3,"count":60,"folders":\[\],/);
  expect(knownList(directory, cache, { limit: 1 })).toBeUndefined();
});

test("names in a cache cannot leave the directory", () => {
  list();
  const text = readFileSync(cache, "utf8").replaceAll(/^\["/gm, '["../conversations/');
  writeFileSync(cache, text);
  expect(knownList(directory, cache, { limit: 1 })).toBeUndefined();
});

test("a cache whose end is missing is ignored", () => {
  list();
  const text = readFileSync(cache, "utf8");
  writeFileSync(cache, `${text.split("\n").slice(0, 10).join("\n")}\n`);
  expect(knownList(directory, cache, { limit: 9 })).toHaveLength(9);
  expect(knownList(directory, cache, { limit: 10 })).toBeUndefined();
  expect(list({ limit: 10 })).toHaveLength(10);
});
