import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { placesIn, treeIn } from "../../support/file-trees.js";
import { openChanges } from "../../support/open-changes.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const run = promisify(execFile);

/** A folder prepared by one shell command and changed by another during a turn. */
async function changedBy(made: string, turn: string) {
  const opened = await openChanges();
  const { cwd, changes, during, takeBack } = opened;
  const all = async () => ({ files: await treeIn(cwd), places: await placesIn(cwd) });
  await run("sh", ["-ec", made], { cwd });
  const before = await all();
  const record = await during(() => run("sh", ["-ec", turn], { cwd }));
  const after = await all();
  /** Undoes the latest record: first the turn, then that undo, and so on. */
  const undoLast = async () => await takeBack((await changes.records()).at(-1) ?? record);
  return { ...opened, all, before, after, record, undoLast };
}

test.each([
  ["moving a folder", "mkdir -p a/deep; echo 1 >a/x; echo 2 >a/deep/y", "mv a b"],
  ["moving a private folder with an empty one", "mkdir -m 700 a; mkdir a/empty; echo 1 >a/x", "mv a b"],
  ["moving a read-only folder", "mkdir a; echo 1 >a/x; chmod 555 a", "mv a b"],
  ["moving a folder into another", "mkdir -p a b; echo 1 >a/x", "mv a b"],
  ["moving a folder one level down", "mkdir a; echo 1 >a/x", "mv a t; mkdir a; mv t a/a"],
  ["swapping two folders", "mkdir a b; echo 1 >a/x; echo 2 >b/y", "mv a t; mv b a; mv t b"],
  ["replacing a folder by a file", "mkdir -p a/deep/er; echo 1 >a/deep/x", "rm -r a; echo 2 >a"],
  ["replacing a file by a folder with empty folders", "echo 1 >a", "rm a; mkdir -p a/e/f a/g; echo 2 >a/x"],
  ["replacing a folder by a symlink to its new place", "mkdir a; echo 1 >a/x", "mv a b; ln -s b a"],
  ["replacing a symlink by its target", "mkdir a; echo 1 >a/x; ln -s a l", "rm l; mv a l"],
  ["replacing a folder by a symlink out of the root", "mkdir a; echo 1 >a/x", "rm -r a; ln -s / a"],
  ["replacing a symlink out of the root by a folder", "ln -s / a", "rm a; mkdir -p a/b; echo 1 >a/b/x"],
  ["changing only the case of names", "mkdir a; echo 1 >a/x; echo 2 >File", "mv a A; mv A/x A/X; mv File file"],
  ["creating a file in an empty folder", "mkdir -p a/b", "echo 1 >a/b/x"],
  ["deleting the last file of a folder", "mkdir -p a/b; echo 1 >a/b/x", "rm a/b/x"],
  ["creating nested folders", "echo 1 >x", "mkdir -p a/b/c/d; echo 1 >a/b/c/d/x; mkdir a/e"],
])("undo and redo restore files and folders after %s", async (_what, made, turn) => {
  const { all, before, after, undoLast } = await changedBy(made, turn);
  for (const expected of [before, after, before]) {
    expect(await undoLast()).toEqual([]);
    expect(await all()).toEqual(expected);
  }
});

test("ignored files that move with their .gitignore are neither deleted nor reported as new", async () => {
  const made = "mkdir -p a/build; echo build >a/.gitignore; echo 1 >a/x; echo 2 >a/build/y";
  const { cwd, record, plan, takeBack } = await changedBy(made, "mv a b");
  expect(record.files.map(({ path }) => path)).toEqual(["a/.gitignore", "a/x", "b/.gitignore", "b/x"]);
  expect(plan(record).staying).toEqual(["b"]);
  expect(await takeBack(record)).toEqual([]);
  expect(Object.keys(await treeIn(cwd))).toEqual(["a/.gitignore", "a/x", "b/build/y"]);
});

test("ignore rules created during a turn hide no changes of that turn", async () => {
  const { record } = await changedBy(
    "mkdir a; echo 1 >a/x",
    "mkdir b; echo '*' | tee a/.gitignore >b/.gitignore; echo 1 >b/x",
  );
  expect(record.files.map(({ path }) => path)).toEqual(["a/.gitignore", "b/.gitignore", "b/x"]);
});

test("a folder with files added after the turn stays, with those files", async () => {
  const { cwd, record, plan, takeBack } = await changedBy("mkdir a; echo 1 >a/x", "mkdir -p a/b/c a/d; mv a/x a/b/c");
  await writeFile(join(cwd, "a/b/mine"), "3\n");
  expect(plan(record).staying).toEqual(["a/b"]);
  expect(await takeBack(record)).toEqual([]);
  expect((await placesIn(cwd)).map((place) => place.split(" ")[0])).toEqual(["a", "a/b", "a/b/mine", "a/x"]);
});

test.each([
  ["a folder with files of its own", "mkdir a; echo 3 >a/mine"],
  ["an empty folder that is not the turn's", "mkdir a"],
  ["a pipe", "mkfifo a"],
])("%s in place of a deleted file blocks its restore", async (_what, since) => {
  const { cwd, record, plan } = await changedBy("echo 1 >a", "rm a");
  await run("sh", ["-ec", since], { cwd });
  expect(plan(record).steps).toMatchObject([{ path: "a", obstacle: "blocked" }]);
});

test("a folder that replaced a file blocks its restore if other files were added", async () => {
  const { cwd, record, plan } = await changedBy("echo 1 >a", "rm a; mkdir a; echo 2 >a/x");
  await writeFile(join(cwd, "a", "mine"), "3\n");
  expect(plan(record).steps).toMatchObject([{ path: "a", obstacle: "blocked" }, { path: "a/x" }]);
});

test("a file or symlink in place of a deleted folder blocks the restore of its files", async () => {
  const { cwd, record, plan } = await changedBy("mkdir -p a/b; echo 1 >a/b/x", "rm -r a");
  await writeFile(join(cwd, "a"), "3\n");
  expect(plan(record)).toMatchObject({ steps: [{ path: "a/b/x", obstacle: "blocked" }], folders: [] });
  await rm(join(cwd, "a"));
  await symlink(await temporaryFolder(), join(cwd, "a"));
  expect(plan(record)).toMatchObject({ steps: [{ path: "a/b/x", obstacle: "blocked" }], folders: [] });
});

test("undo with a record without folders removes folders that have become empty", async () => {
  const { all, before, record, takeBack } = await changedBy(
    "echo 1 >a; mkdir b; echo 2 >b/y",
    "rm a; mkdir -p a/b; mv b/y a/b",
  );
  const { folders: _folders, ...old } = record;
  expect(await takeBack(old)).toEqual([]);
  expect(await all()).toEqual(before);
});

test.each(["../out", "/etc/out", "a/../../out", ".git/hooks", "a//b", "nul\0"])(
  "a record with the folder path %j is refused",
  async (path) => {
    const { record, plan } = await changedBy("mkdir -p .git", "echo 1 >x");
    expect(plan({ ...record, folders: [{ path, before: 0o777, after: null }] }).folders).toEqual([]);
  },
);

test("a folder replaced by a symlink is neither removed nor entered", async () => {
  const { cwd, record, plan, takeBack } = await changedBy("echo 1 >x", "mkdir -p a/b; echo 2 >x");
  const outside = await temporaryFolder();
  await mkdir(join(outside, "b"));
  await rm(join(cwd, "a"), { recursive: true });
  await symlink(outside, join(cwd, "a"));
  expect(plan(record).folders).toEqual([]);
  expect(await takeBack(record)).toEqual([]);
  expect(await placesIn(outside)).toEqual(["b folder 755"]);
});
