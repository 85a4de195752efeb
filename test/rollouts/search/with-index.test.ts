import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { expect, test } from "vitest";
import type { ConversationIndex } from "../../../src/rollouts/search/conversation-index.js";
import { searchFiles } from "../../../src/rollouts/search/scan.js";
import { forgetIndexed, withIndex } from "../../../src/rollouts/search/with-index.js";
import { assistant, call, Home, metaLine, output, user } from "./rollout-library.js";

async function used<T>(home: Home, work: (index: ConversationIndex) => T): Promise<T> {
  const outcome = await withIndex({ path: home.index }, work);
  if (outcome.status !== "used") throw new Error(outcome.reason);
  return outcome.value;
}

/** Updates the index and returns the ids of conversations with the word; a scan of the files must agree. */
async function search(home: Home, ...words: readonly string[]): Promise<string[]> {
  const library = home.library();
  const found = await used(home, (index) => {
    index.update(library);
    return index.search(library.conversations, words, 100);
  });
  expect(found).toEqual(searchFiles(library.conversations, words, 100));
  return found.map(({ conversation }) => conversation.id).toSorted();
}

async function noDatabase(): Promise<undefined> {}

function rows(home: Home, sql: string): unknown[] {
  const database = new Database(home.index);
  try {
    return database.prepare(sql).raw().all();
  } finally {
    database.close();
  }
}

test("the index has the documented tables, and is private to its user", async () => {
  const home = await Home.open();
  const said = [
    user("First line\nsecond"),
    call("shell", '{"command":["ls"]}'),
    output("a.txt"),
    assistant("One file"),
  ];
  const path = home.save("conv_a", ...said);
  await search(home, "file");
  expect(home.mode).toBe(0o600);
  const columns = (table: string) => rows(home, `SELECT name FROM pragma_table_info('${table}')`).flat().join(", ");
  expect(columns("sessions")).toBe(
    "id, started_at, cwd, cli_version, originator, git_branch, git_commit, title, rollout_path, last_event_at",
  );
  expect(columns("messages")).toBe("session_id, offset, role, kind, text, tool_name");
  const sessions = rows(home, "SELECT * FROM sessions");
  const updated = new Date(home.library().conversations[0]?.updatedAt ?? 0).toISOString();
  expect(sessions).toEqual([
    ["conv_a", "2026-11-16T00:00:00.000Z", "/project", "0.1.0", "cody", "main", "0123", "First line", path, updated],
  ]);
  const offsets = said.map((_, index) => [metaLine("conv_a"), ...said.slice(0, index)].join("").length);
  expect(rows(home, "SELECT * FROM messages ORDER BY offset")).toEqual([
    ["conv_a", offsets[0], "user", "message", "First line\nsecond", null],
    ["conv_a", offsets[1], "assistant", "call", '{"command":["ls"]}', "shell"],
    ["conv_a", offsets[2], "tool", "output", "a.txt", "shell"],
    ["conv_a", offsets[3], "assistant", "message", "One file", null],
  ]);
});

test("appended bytes are indexed incrementally, rewritten files again, and deleted files are removed", async () => {
  const home = await Home.open();
  const path = home.save("conv_a", user("apple"), call("read_file", "{}"));
  home.save("conv_b", user("banana"));
  expect(await search(home, "apple")).toEqual(["conv_a"]);
  // Indexed bytes are not read again, except for the last ones.
  const text = readFileSync(path, "utf8");
  home.append("conv_a", output("cherry"), assistant("half a line").slice(0, -1));
  expect(await search(home, "cherry")).toEqual(["conv_a"]);
  expect(rows(home, "SELECT tool_name FROM messages WHERE kind = 'output'")).toEqual([["read_file"]]);
  expect(await search(home, "half")).toEqual([]);
  home.append("conv_a", "\n");
  expect(await search(home, "half")).toEqual(["conv_a"]);

  writeFileSync(`${path}.tmp`, text.replace("apple", "damson") + assistant("x".repeat(1000)));
  renameSync(`${path}.tmp`, path);
  expect(await search(home, "apple")).toEqual([]);
  expect(await search(home, "damson")).toEqual(["conv_a"]);
  // Rewritten in place, and longer than before.
  writeFileSync(path, text.replace("apple", "elderberry") + assistant("y".repeat(3000)));
  expect(await search(home, "damson")).toEqual([]);
  expect(await search(home, "elderberry")).toEqual(["conv_a"]);

  rmSync(path);
  expect(await search(home, "elderberry")).toEqual([]);
  expect(rows(home, "SELECT id FROM sessions")).toEqual([["conv_b"]]);
});

test("only the new bytes of a grown file are read", async () => {
  const home = await Home.open();
  const path = home.save("conv_a", user("apple"), assistant("z".repeat(1000)));
  await search(home, "apple");
  // This word would be found if the file were read from the beginning.
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace("apple", "grape") + assistant("more"));
  const library = home.library();
  const ids = await used(home, (index) => {
    index.update(library);
    return index.search(library.conversations, ["apple", "more"], 10).map(({ conversation }) => conversation.id);
  });
  expect(ids).toEqual(["conv_a"]);
});

test("no bytes of a forgotten conversation are left in the index file", async () => {
  const home = await Home.open();
  home.save("conv_a", user("a Quetzalcoatlus and nothing else".repeat(50)));
  home.save("conv_b", user("something else"));
  expect(await search(home, "quetzalcoatlus")).toEqual(["conv_a"]);
  expect(await forgetIndexed(home.index, ["conv_a", "conv_none"])).toBe(true);
  expect(readFileSync(home.index).toString("latin1")).not.toMatch(/quetz|etzal/i);
  expect(rows(home, "SELECT DISTINCT session_id FROM messages")).toEqual([["conv_b"]]);
  expect(rows(home, `SELECT rowid FROM words WHERE words MATCH '"uet"'`)).toEqual([]);
  // Without SQLite an entry cannot be removed, so the whole index is deleted.
  expect(await forgetIndexed(home.index, ["conv_b"], noDatabase)).toBe(true);
  expect(existsSync(home.index)).toBe(false);
  expect(await forgetIndexed(home.index, ["conv_b"])).toBe(true);
  expect(existsSync(home.index)).toBe(false);
});

test.each([
  { what: "garbage", spoil: (home: Home) => writeFileSync(home.index, "garbage ".repeat(2_000)) },
  {
    what: "a torn file",
    spoil: (home: Home) => writeFileSync(home.index, readFileSync(home.index).subarray(0, 6_000)),
  },
  {
    what: "missing its tables",
    spoil: (home: Home) => {
      const database = new Database(home.index);
      database.exec("DROP TABLE messages");
      database.close();
    },
  },
  { what: "readable by other users", spoil: (home: Home) => chmodSync(home.index, 0o644) },
])("an index that is $what is repaired", async ({ spoil }) => {
  const home = await Home.open();
  home.save("conv_a", user("apple ".repeat(2_000)));
  expect(await search(home, "apple")).toEqual(["conv_a"]);
  spoil(home);
  expect(await search(home, "apple")).toEqual(["conv_a"]);
  expect(home.mode).toBe(0o600);
});

test("an index of a newer version is left unchanged", async () => {
  const home = await Home.open();
  const database = new Database(home.index);
  database.exec("CREATE TABLE something(a); PRAGMA user_version = 99");
  database.close();
  expect(await withIndex({ path: home.index }, () => 1)).toMatchObject({ status: "newer" });
  expect(await forgetIndexed(home.index, ["conv_a"])).toBe(false);
  expect(rows(home, "SELECT name FROM sqlite_master")).toEqual([["something"]]);
});

test("an index that another process is writing is in use and left unchanged", async () => {
  const home = await Home.open();
  home.save("conv_a", user("apple"));
  await search(home, "apple");
  home.save("conv_b", user("apple"));
  const library = home.library();
  const holder = new Database(home.index);
  holder.exec("BEGIN EXCLUSIVE");
  const outcome = await withIndex({ path: home.index }, (index) => index.update(library));
  expect(outcome).toEqual({ status: "in_use", reason: "another process is using it" });
  expect(await forgetIndexed(home.index, ["conv_a"])).toBe(false);
  holder.exec("ROLLBACK");
  holder.close();
  expect(await search(home, "apple")).toEqual(["conv_a", "conv_b"]);
});

test("a missing SQLite or an index that cannot be created is reported without throwing", async () => {
  const home = await Home.open();
  expect(await withIndex({ path: home.index, load: noDatabase }, () => 1)).toMatchObject({ status: "missing" });
  expect(existsSync(home.index)).toBe(false);
  writeFileSync(join(home.folder, "file"), "");
  expect(await withIndex({ path: join(home.folder, "file", "index.sqlite") }, () => 1)).toMatchObject({
    status: "failed",
  });
  writeFileSync(join(home.folder, "elsewhere"), "");
  symlinkSync(join(home.folder, "elsewhere"), home.index);
  expect(await withIndex({ path: home.index }, () => 1)).toMatchObject({ status: "failed" });
  rmSync(home.index);
  execFileSync("mkfifo", [home.index]);
  expect(await withIndex({ path: home.index }, () => 1)).toMatchObject({ status: "failed" });
});
