import { execFile, execFileSync } from "node:child_process";
import { appendFile, link, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  appendKnowledge,
  readKnowledge,
  readRecentKnowledge,
  maxKnowledgeBytes,
} from "../../../src/actors/knowledge/knowledge-file.js";
import type { KnowledgeEntry } from "../../../src/messages/tools/knowledge.js";
import { bundleModule } from "../../support/bundle.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

function entry(id: string, fields: Partial<KnowledgeEntry> = {}): KnowledgeEntry {
  const timestamp = "2026-11-17T12:00:00.000Z";
  return { id, timestamp, type: "pattern", content: `about ${id}`, confidence: 0.8, ...fields };
}

test("appended entries are read back, in a created folder and a file private to its user", async () => {
  const directory = join(await temporaryFolder(), "a", "knowledge");
  const entries = [entry("00000001", { sessionId: "conv_1", tags: ["x"], supersedes: "0" }), entry("00000002")];
  for (const each of entries) await appendKnowledge(directory, each);
  expect(await readKnowledge(directory)).toEqual(entries);
  expect(await readFile(join(directory, "knowledge.jsonl"), "utf8")).toBe(
    entries.map((each) => `${JSON.stringify(each)}\n`).join(""),
  );
  expect((await stat(join(directory, "knowledge.jsonl"))).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(["knowledge.jsonl"]);
});

test("a missing file has no entries", async () => {
  expect(await readKnowledge(join(await temporaryFolder(), "none"))).toEqual([]);
  expect(await readRecentKnowledge(await temporaryFolder(), 5)).toEqual([]);
});

test("entries are returned newest first, up to the requested limit", async () => {
  const directory = await temporaryFolder();
  for (const [index, day] of ["03", "01", "02"].entries()) {
    await appendKnowledge(directory, entry(`e${index}`, { timestamp: `2026-11-${day}T00:00:00Z` }));
  }
  expect((await readRecentKnowledge(directory, 2)).map(({ id }) => id)).toEqual(["e0", "e2"]);
  expect(await readRecentKnowledge(directory, 0)).toEqual([]);
});

test("an invalid entry is refused", async () => {
  const directory = await temporaryFolder();
  await expect(appendKnowledge(directory, entry("a", { confidence: 2 }))).rejects.toThrow("knowledge: confidence");
  expect(await readdir(directory)).toEqual([]);
});

test("invalid lines are skipped with a warning and do not fail the read", async () => {
  const directory = await temporaryFolder();
  const good = JSON.stringify(entry("good"));
  const bad = [
    "{",
    "null",
    "[]",
    '"text"',
    JSON.stringify(entry("b", { confidence: 1e9 })),
    JSON.stringify({ ...entry("c"), type: "rule" }),
    JSON.stringify({ ...entry("d"), timestamp: "yesterday" }),
    JSON.stringify(entry("e", { content: "x".repeat(5_000) })),
    JSON.stringify(entry("../f")),
    "[".repeat(100_000),
    "\u0000\u0001",
  ];
  await writeFile(join(directory, "knowledge.jsonl"), [good, "", ...bad, good, good.slice(0, 20)].join("\n"));
  const problems: string[] = [];
  const entries = await readKnowledge(directory, (problem) => problems.push(problem));
  expect(entries).toEqual([entry("good"), entry("good")]);
  expect(problems).toEqual([
    `${join(directory, "knowledge.jsonl")}: skipped 12 line(s) with invalid knowledge; the first is line 3`,
  ]);
});

test("an unterminated last line gets a newline before the next entry is appended", async () => {
  const directory = await temporaryFolder();
  await appendKnowledge(directory, entry("first"));
  await appendFile(join(directory, "knowledge.jsonl"), '{"id":"torn","ti');
  await appendKnowledge(directory, entry("second"));
  expect((await readKnowledge(directory)).map(({ id }) => id)).toEqual(["first", "second"]);
});

test("a full file refuses more entries, and only the end of an oversized file is read", async () => {
  const directory = await temporaryFolder();
  const path = join(directory, "knowledge.jsonl");
  const line = `${JSON.stringify(entry("same", { content: "x".repeat(3_000) }))}\n`;
  await writeFile(path, line.repeat(Math.ceil(maxKnowledgeBytes / line.length) + 1));
  await appendFile(path, `${JSON.stringify(entry("last"))}\n`);
  const problems: string[] = [];
  const entries = await readKnowledge(directory, (problem) => problems.push(problem));
  expect(entries.at(-1)?.id).toBe("last");
  expect(problems).toEqual([`${path} is too long: only its last 1048576 bytes were read`]);
  await expect(appendKnowledge(directory, entry("more"))).rejects.toThrow("cody knowledge prune");
});

test("a symlink, hard link or anything but a regular file is neither read nor written", async () => {
  const outside = join(await temporaryFolder(), "outside");
  await writeFile(outside, `${JSON.stringify(entry("theirs"))}\n`);
  const makers: Record<string, (path: string) => Promise<unknown>> = {
    "it is a symbolic link": (path) => symlink(outside, path),
    "it is not a regular file": (path) => mkdir(path),
    "it is not a regular file ": async (path) => execFileSync("mkfifo", [path]),
  };
  for (const [reason, make] of Object.entries(makers)) {
    const directory = await temporaryFolder();
    await make(join(directory, "knowledge.jsonl"));
    const problems: string[] = [];
    expect(await readKnowledge(directory, (problem) => problems.push(problem))).toEqual([]);
    expect(problems).toEqual([`${join(directory, "knowledge.jsonl")} is ignored: ${reason.trim()}`]);
    await expect(appendKnowledge(directory, entry("a"))).rejects.toThrow(/ELOOP|EISDIR|named pipe/);
  }
  const directory = await temporaryFolder();
  await link(outside, join(directory, "knowledge.jsonl"));
  await expect(appendKnowledge(directory, entry("a"))).rejects.toThrow("has another hard link");
  expect(await readFile(outside, "utf8")).toBe(`${JSON.stringify(entry("theirs"))}\n`);
});

test("concurrent appends of many processes lose no entry and mix no lines", async () => {
  await using bundle = await bundleModule("src/actors/knowledge/knowledge-file.ts");
  const directory = await temporaryFolder();
  const script = `
    const { appendKnowledge } = await import(process.argv[1]);
    const [, , directory, name] = process.argv;
    for (let n = 0; n < 10; n += 1) {
      const content = name.repeat(200) + n;
      await appendKnowledge(directory, { id: name + n, timestamp: new Date(0).toISOString(), type: "pattern", content, confidence: 1 });
    }
  `;
  const names = ["a", "b", "c", "d", "e"];
  const run = promisify(execFile);
  await Promise.all(
    names.map((name) => run(process.execPath, ["--input-type=module", "-e", script, bundle.file, directory, name])),
  );
  const problems: string[] = [];
  const ids = (await readKnowledge(directory, (problem) => problems.push(problem))).map(({ id }) => id);
  expect(ids.toSorted()).toEqual(names.flatMap((name) => Array.from({ length: 10 }, (_, n) => `${name}${n}`)));
  expect(problems).toEqual([]);
  expect(await readdir(directory)).toEqual(["knowledge.jsonl"]);
});
