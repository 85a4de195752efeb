import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { cachedPage } from "../../../src/rollouts/list/cached-list.js";
import { DirectoryList } from "../../../src/rollouts/list/directory-list.js";
import { listConversations } from "../../../src/rollouts/list/list.js";
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
    writeFileSync(pathOf(index), line);
    utimesSync(pathOf(index), 1_000 + index, 1_000 + index);
  }
  settle();
});

function pathOf(index: number): string {
  return join(directory, ...(index % 2 === 0 ? [] : ['a "project"']), `${idOf(index)}.jsonl`);
}

function idOf(index: number): string {
  return `conv_${String(index).padStart(4, "0")}`;
}

/** Makes the folders look as if they had not changed for long. */
function settle(seconds = 1_000): void {
  for (const name of ["", 'a "project"']) utimesSync(join(directory, name), seconds, seconds);
}

function openList(options: Partial<ConstructorParameters<typeof DirectoryList>[0]> = {}): DirectoryList {
  return new DirectoryList({ directory, cache, isOwn: true, mayWrite: true, ...options });
}

async function idsOf(list: DirectoryList, limit: number): Promise<string[]> {
  return (await list.list({ limit })).map(({ id }) => id);
}

test("pages from all files, from the cache and of the command line are the same", async () => {
  const all = await listConversations(directory);
  const list = openList();
  expect(await list.list({ limit: 5 })).toEqual(all.slice(0, 5));
  expect(await list.list({ limit: 5 })).toEqual(all.slice(0, 5));
  // The command line reads one more, to know whether there is another page.
  expect(cachedPage(directory, cache, { limit: 6 })).toEqual({ conversations: all.slice(0, 6), total: count });
  expect(await list.list({ limit: 8 })).toEqual(all.slice(0, 8));
  expect(await list.list()).toEqual(all);
  expect(listConversationsSync(directory, { cache })).toEqual(all);
  rmSync(cache);
  expect(await list.list({ limit: 5 })).toEqual(all.slice(0, 5));
  expect(existsSync(cache)).toBe(true);
  await list.close();
});

test("a page from the cache reads no file that is not on it", async () => {
  const list = openList();
  await list.list({ limit: 5 });
  // Changing a file without its folder is what no writer of ours does.
  appendFileSync(pathOf(0), line);
  expect(await idsOf(list, 3)).toEqual([59, 58, 57].map(idOf));
  settle(2_000);
  expect(await idsOf(list, 3)).toEqual([0, 59, 58].map(idOf));
  await list.close();
});

test("conversations that are open move to the top with every change, without looking at the others", async () => {
  const list = openList();
  writeFileSync(`${pathOf(7)}.lock`, "{}");
  writeFileSync(`${pathOf(4)}.lock`, "{}");
  settle();
  await list.list({ limit: 5 });
  const cached = readFileSync(cache, "utf8");
  appendFileSync(pathOf(7), line);
  expect(await list.list({ limit: 3 })).toEqual((await listConversations(directory)).slice(0, 3));
  expect(await idsOf(list, 3)).toEqual([7, 59, 58].map(idOf));
  appendFileSync(pathOf(4), line.repeat(2));
  expect(await list.list({ limit: 3 })).toEqual((await listConversations(directory)).slice(0, 3));
  expect(await idsOf(list, 1)).toEqual([idOf(4)]);
  appendFileSync(pathOf(58), line);
  expect(await idsOf(list, 4)).toEqual([58, 4, 7, 59].map(idOf));
  expect(readFileSync(cache, "utf8")).toBe(cached);
  await list.close();
});

test("new, deleted and replaced files, and a file whose time was set back, are found", async () => {
  const list = openList();
  await list.list({ limit: 3 });
  writeFileSync(join(directory, "conv_new.jsonl"), line);
  expect(await idsOf(list, 2)).toEqual(["conv_new", idOf(59)]);
  rmSync(join(directory, "conv_new.jsonl"));
  settle();
  expect(await idsOf(list, 2)).toEqual([59, 58].map(idOf));
  utimesSync(pathOf(59), 900, 900);
  expect(await idsOf(list, 2)).toEqual([58, 57].map(idOf));
  rmSync(pathOf(58));
  settle();
  expect(await idsOf(list, 2)).toEqual([57, 56].map(idOf));
  await list.close();
});

test("damaged files are listed as damaged, and a damaged cache is ignored", async () => {
  appendFileSync(pathOf(3), "damaged\n");
  settle();
  const list = openList();
  expect((await list.list()).map(({ damaged }) => damaged)).toEqual([true, ...Array(count - 1).fill(false)]);
  for (const text of ["", "garbage\n", "[1]\n", `{"version":99}\n`, readFileSync(cache, "utf8").slice(0, 2_000)]) {
    writeFileSync(cache, text);
    expect(await idsOf(list, 50)).toEqual([3, ...Array.from({ length: 49 }, (_, index) => 59 - index)].map(idOf));
  }
  writeFileSync(cache, readFileSync(cache, "utf8").replaceAll(/^\["/gm, '["../conversations/'));
  expect(await idsOf(list, 1)).toEqual([idOf(3)]);
  await list.close();
});

test("a folder that changed just now is looked at again by the next list", async () => {
  const now = Date.now() / 1000;
  utimesSync(directory, now, now);
  const list = openList();
  await list.list({ limit: 3 });
  appendFileSync(pathOf(5), line);
  expect(await idsOf(list, 1)).toEqual([idOf(5)]);
  expect(existsSync(cache)).toBe(false);
  await list.close();
});

test("a directory that other programs write to is looked at whole every time", async () => {
  const list = openList({ isOwn: false });
  await list.list({ limit: 3 });
  appendFileSync(pathOf(5), line);
  expect(await idsOf(list, 1)).toEqual([idOf(5)]);
  const files = [{ id: idOf(2), path: pathOf(2) }];
  expect(await list.list({ files })).toMatchObject([{ id: idOf(2), size: statSync(pathOf(2)).size }]);
  await list.close();
});

test("without permission to write, no cache is written", async () => {
  const list = openList({ mayWrite: false });
  expect(await idsOf(list, 1)).toEqual([idOf(59)]);
  expect(await idsOf(list, count)).toHaveLength(count);
  expect(existsSync(cache)).toBe(false);
  await list.close();
});
