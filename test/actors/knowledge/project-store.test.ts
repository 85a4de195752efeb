import { mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KnowledgeIndex, ProjectStore } from "../../../src/actors/knowledge/project-store.js";
import { activeKnowledge } from "../../../src/context/knowledge.js";
import type { KnowledgeEntry, NewKnowledge } from "../../../src/messages/tools/knowledge.js";
import { redactorOf } from "../../support/redaction.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const secret = "hunter2-hunter2-hunter2";
const now = () => new Date("2026-11-17T12:00:00.000Z");

function storeIn(root: string): ProjectStore {
  return new ProjectStore({ root, now, redactor: redactorOf({ secrets: [secret] }) });
}

function said(content: string, fields: Partial<NewKnowledge> = {}): NewKnowledge {
  return { type: "pattern", content, confidence: 0.8, ...fields };
}

const byModel = { source: "model", sessionId: "conv_1" } as const;

async function save(store: ProjectStore, what: NewKnowledge): Promise<KnowledgeEntry> {
  const entry = store.entryOf(what, new KnowledgeIndex((await store.read()).entries), byModel);
  await store.append([entry]);
  return entry;
}

async function textsOf(store: ProjectStore): Promise<string[]> {
  return activeKnowledge((await store.read()).entries).map(({ content }) => content);
}

test("an entry has an id of eight digits, a time, its conversation, its source, and no secrets", async () => {
  const root = await temporaryFolder();
  const entry = await save(storeIn(root), said(`the key is ${secret}`, { tags: [secret, "x"] }));
  expect(entry).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
    timestamp: "2026-11-17T12:00:00.000Z",
    sessionId: "conv_1",
    source: "model",
    type: "pattern",
    content: "the key is [redacted]",
    confidence: 0.8,
    tags: ["[redacted]", "x"],
  });
  expect(await readFile(join(root, ".cody/knowledge/knowledge.jsonl"), "utf8")).toBe(`${JSON.stringify(entry)}\n`);
});

test("an entry is replaced by id or by text, and a repeated text replaces its earlier entry", async () => {
  const store = storeIn(await temporaryFolder());
  const first = await save(store, said("tabs"));
  const second = await save(store, said("spaces", { supersedes: first.id }));
  await save(store, said("two spaces", { supersedes: " spaces " }));
  expect(await textsOf(store)).toEqual(["two spaces"]);
  await save(store, said("two  spaces"));
  expect(await textsOf(store)).toEqual(["two  spaces"]);
  expect(() => store.entryOf(said("x", { supersedes: "nothing" }), new KnowledgeIndex([second]), byModel)).toThrow(
    "the entry to replace was not found",
  );
});

test("undo removes only the entry, so the entry it replaced is active again", async () => {
  const root = await temporaryFolder();
  const store = storeIn(root);
  await save(store, said("tabs"));
  const second = await save(store, said("spaces", { supersedes: "tabs" }));
  await writeFile(join(root, ".cody/knowledge/knowledge.jsonl"), "{ torn\n", { flag: "a" });
  expect(await textsOf(store)).toEqual(["spaces"]);
  expect(await store.undo([second.id, "none"])).toEqual([second.id]);
  expect(await textsOf(store)).toEqual(["tabs"]);
  expect(await readFile(join(root, ".cody/knowledge/knowledge.jsonl"), "utf8")).toContain("{ torn\n");
});

test("an entry with a missing or unknown source is read", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, ".cody/knowledge"), { recursive: true });
  const old = { ...said("old"), id: "a", timestamp: "2026-11-01T00:00:00Z" };
  const lines = [old, { ...old, id: "b", source: "another program" }, { ...old, id: "c", source: "model" }];
  await writeFile(
    join(root, ".cody/knowledge/knowledge.jsonl"),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  const { entries, problems } = await storeIn(root).read();
  expect(entries.map(({ id, source }) => [id, source])).toEqual([
    ["a", undefined],
    ["b", undefined],
    ["c", "model"],
  ]);
  expect(problems).toEqual([]);
});

test("another program's knowledge file is read too, our entries come first, and the other file is never written", async () => {
  const root = await temporaryFolder();
  const store = storeIn(root);
  await mkdir(join(root, ".diligent/knowledge"), { recursive: true });
  const theirs = {
    id: "aaaaaaaa",
    timestamp: "2026-11-01T00:00:00Z",
    type: "decision",
    content: "theirs",
    confidence: 1,
  };
  const text = `${JSON.stringify(theirs)}\n{"broken"\n`;
  await writeFile(join(root, ".diligent/knowledge/knowledge.jsonl"), text);
  await save(store, said("ours"));
  await store.import([{ ...theirs, content: "kept away", type: "pattern" }]);
  expect(await textsOf(store)).toEqual(["ours", "theirs"]);
  expect((await store.read()).problems).toHaveLength(1);
  await save(store, said("ours now", { supersedes: "aaaaaaaa" }));
  expect(await textsOf(store)).toEqual(["ours", "ours now"]);
  expect(await store.remove(["aaaaaaaa"])).toEqual([]);
  expect(await readFile(join(root, ".diligent/knowledge/knowledge.jsonl"), "utf8")).toBe(text);
});

test("removing an entry deletes it and the entries it replaced, and leaves all other bytes unchanged", async () => {
  const root = await temporaryFolder();
  const store = storeIn(root);
  const path = join(root, ".cody/knowledge/knowledge.jsonl");
  expect(await store.remove(["none"])).toEqual([]);
  expect(await readdir(root)).toEqual([]);
  const old = await save(store, said("old"));
  const other = await save(store, said("other"));
  const wrong = await save(store, said("wrong", { supersedes: old.id }));
  const foreign = '{"somebody":  "else"}';
  await writeFile(path, `${await readFile(path, "utf8")}${foreign}\n`);
  expect((await store.remove([wrong.id])).toSorted()).toEqual([old.id, wrong.id].toSorted());
  expect(await readFile(path, "utf8")).toBe(`${JSON.stringify(other)}\n${foreign}\n`);
});

function isStale({ type }: KnowledgeEntry): boolean {
  return type === "discovery";
}

test("pruning removes superseded entries, stale entries and invalid lines", async () => {
  const root = await temporaryFolder();
  const store = storeIn(root);
  const path = join(root, ".cody/knowledge/knowledge.jsonl");
  const old = await save(store, said("old"));
  await save(store, said("new", { supersedes: old.id }));
  const stale = await save(store, said("stale", { type: "discovery" }));
  await writeFile(path, `${await readFile(path, "utf8")}{"torn`);
  expect(await store.prunable(isStale)).toEqual([old.id, stale.id]);
  expect(await store.prune(isStale)).toEqual({ ids: [old.id, stale.id], lines: 3 });
  expect(await textsOf(store)).toEqual(["new"]);
  expect(await store.prune(isStale)).toEqual({ ids: [], lines: 0 });
});

test("entries that replace each other in a cycle are all inactive, and resolving them terminates", async () => {
  const store = storeIn(await temporaryFolder());
  const base = { timestamp: "2026-11-01T00:00:00Z", type: "pattern", content: "x", confidence: 1 } as const;
  await store.import([
    { ...base, id: "a", supersedes: "b" },
    { ...base, id: "b", supersedes: "a" },
  ]);
  expect(await textsOf(store)).toEqual([]);
  expect((await store.remove(["a"])).toSorted()).toEqual(["a", "b"]);
});

test("importing skips known entries and redacts secrets", async () => {
  const store = storeIn(await temporaryFolder());
  const base = { timestamp: "2026-11-01T00:00:00Z", type: "pattern", confidence: 1 } as const;
  const entries = [{ ...base, id: "a", content: secret }];
  expect((await store.import(entries)).map(({ content }) => content)).toEqual(["[redacted]"]);
  expect(await store.import(entries)).toEqual([]);
});

test.each([".cody", ".cody/knowledge"])("nothing is read or written if %s is a symlink", async (name) => {
  const [root, outside] = [await temporaryFolder(), await temporaryFolder()];
  if (name !== ".cody") await mkdir(join(root, ".cody"));
  await mkdir(join(outside, "knowledge"));
  const line = JSON.stringify({ ...said("theirs"), id: "a", timestamp: "2026-11-01T00:00:00Z" });
  for (const folder of [outside, join(outside, "knowledge")]) await writeFile(join(folder, "knowledge.jsonl"), line);
  await symlink(outside, join(root, name));
  const store = storeIn(root);
  expect(await store.read()).toEqual({
    entries: [],
    problems: [
      `${join(root, ".cody/knowledge/knowledge.jsonl")} is ignored: it is a link to a path outside the project`,
    ],
  });
  await expect(store.append([store.entryOf(said("mine"), new KnowledgeIndex([]), byModel)])).rejects.toThrow(
    /ELOOP|ENOTDIR/,
  );
  expect((await readdir(outside, { recursive: true })).toSorted()).toEqual([
    "knowledge",
    "knowledge.jsonl",
    "knowledge/knowledge.jsonl",
  ]);
});
