import { appendFile, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type Names,
  readNames,
  readNamesSync,
  withNames,
  writeName,
} from "../../../src/rollouts/list/names-and-pins.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const uuid = "01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
const id = `conv_${uuid}`;
const at = Date.parse("2026-11-16T00:00:00Z");

async function indexPath(): Promise<string> {
  return join(await temporaryFolder(), "index.jsonl");
}

/** The synchronous and the asynchronous reader must agree. */
async function namesIn(path: string): Promise<[string, string][]> {
  const names = await readNames(path);
  expect(readNamesSync(path)).toEqual(names);
  return plain(names);
}

function plain(names: Names): [string, string][] {
  return [...names].map(([key, { name }]) => [key, name]);
}

test("a name is stored as a line in Codex's format, in a file private to its user", async () => {
  const path = await indexPath();
  await writeName(path, id, { name: "first", namedAt: at }, "rename");
  expect(await readFile(path, "utf8")).toBe(
    `{"id":"${uuid}","thread_name":"first","updated_at":"2026-11-16T00:00:00.000Z"}\n`,
  );
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await namesIn(path)).toEqual([[id, "first"]]);
});

test("the last name is used, and an unchanged name is not written again", async () => {
  const path = await indexPath();
  for (const name of ["first", "second", "second"]) await writeName(path, id, { name, namedAt: at }, "rename");
  await writeName(path, "my-own", { name: "third", namedAt: at }, "rename");
  expect((await readFile(path, "utf8")).split("\n")).toHaveLength(4);
  expect(await namesIn(path)).toEqual([
    [id, "second"],
    ["my-own", "third"],
  ]);
});

test("a repair does not overwrite a newer name, and a rename always does", async () => {
  const path = await indexPath();
  await writeName(path, id, { name: "newer", namedAt: at }, "repair");
  await writeName(path, id, { name: "older", namedAt: at - 1 }, "repair");
  expect(await namesIn(path)).toEqual([[id, "newer"]]);
  await writeName(path, id, { name: "asked for", namedAt: at - 1 }, "rename");
  expect(await namesIn(path)).toEqual([[id, "asked for"]]);
});

test("a torn line affects neither the next line nor earlier ones", async () => {
  const path = await indexPath();
  await writeName(path, "a", { name: "one", namedAt: at }, "rename");
  await appendFile(path, '{"id":"b","thread_na');
  await writeName(path, "c", { name: "three", namedAt: at }, "rename");
  expect(await namesIn(path)).toEqual([
    ["a", "one"],
    ["c", "three"],
  ]);
});

test("invalid entries and invalid names are ignored", async () => {
  const path = await indexPath();
  const lines = [
    "null",
    "[]",
    '{"id":"../x","thread_name":"a"}',
    '{"id":"a","thread_name":""}',
    '{"id":"a","thread_name":"x\\ny"}',
    '{"id":"a","thread_name":7}',
    '{"id":"b","thread_name":"without a time"}',
  ];
  await writeFile(path, lines.join("\n"));
  expect(await namesIn(path)).toEqual([["b", "without a time"]]);
});

test("a missing index has no names, and a symlink or folder is not read", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "real"), '{"id":"a","thread_name":"linked"}\n');
  await symlink(join(folder, "real"), join(folder, "link"));
  await mkdir(join(folder, "folder"));
  for (const name of ["none", "link", "folder"]) expect(await namesIn(join(folder, name))).toEqual([]);
});

test("withNames adds names to a list of conversations", () => {
  const names = new Map([["a", { name: "one", namedAt: at }]]);
  expect(withNames([{ id: "a" }, { id: "b" }], names)).toEqual([{ id: "a", name: "one" }, { id: "b" }]);
});
