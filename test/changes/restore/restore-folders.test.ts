import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { placesIn, treeIn } from "../../support/file-trees.js";
import { openChanges } from "../../support/open-changes.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const run = promisify(execFile);

/** A folder that a command made and another, in a turn, has changed. */
async function changedBy(made: string, turn: string) {
  const opened = await openChanges();
  const { cwd, changes, during, takeBack } = opened;
  const all = async () => ({ files: await treeIn(cwd), places: await placesIn(cwd) });
  await run("sh", ["-ec", made], { cwd });
  const before = await all();
  const record = await during(() => run("sh", ["-ec", turn], { cwd }));
  const after = await all();
  /** The turn, then the undo of it, then the undo of that. */
  const takeBackLast = async () => await takeBack((await changes.records()).at(-1) ?? record);
  return { ...opened, all, before, after, record, takeBackLast };
}

test.each([
  ["a folder was moved", "mkdir -p a/deep; echo 1 >a/x; echo 2 >a/deep/y", "mv a b"],
  ["a private folder with an empty one was moved", "mkdir -m 700 a; mkdir a/empty; echo 1 >a/x", "mv a b"],
  ["a folder nobody can write into was moved", "mkdir a; echo 1 >a/x; chmod 555 a", "mv a b"],
  ["a folder was moved into another", "mkdir -p a b; echo 1 >a/x", "mv a b"],
  ["a folder was moved one down", "mkdir a; echo 1 >a/x", "mv a t; mkdir a; mv t a/a"],
  ["two folders changed places", "mkdir a b; echo 1 >a/x; echo 2 >b/y", "mv a t; mv b a; mv t b"],
  ["a folder became a file", "mkdir -p a/deep/er; echo 1 >a/deep/x", "rm -r a; echo 2 >a"],
  ["a file became a folder with empty ones", "echo 1 >a", "rm a; mkdir -p a/e/f a/g; echo 2 >a/x"],
  ["a folder gave way to a link to itself", "mkdir a; echo 1 >a/x", "mv a b; ln -s b a"],
  ["a link gave way to what it led to", "mkdir a; echo 1 >a/x; ln -s a l", "rm l; mv a l"],
  ["a folder gave way to a link out of the root", "mkdir a; echo 1 >a/x", "rm -r a; ln -s / a"],
  ["a link out of the root gave way to a folder", "ln -s / a", "rm a; mkdir -p a/b; echo 1 >a/b/x"],
  ["names changed in nothing but case", "mkdir a; echo 1 >a/x; echo 2 >File", "mv a A; mv A/x A/X; mv File file"],
  ["a file was made in a folder that was empty", "mkdir -p a/b", "echo 1 >a/b/x"],
  ["the last file of a folder was deleted", "mkdir -p a/b; echo 1 >a/b/x", "rm a/b/x"],
  ["new folders hold each other", "echo 1 >x", "mkdir -p a/b/c/d; echo 1 >a/b/c/d/x; mkdir a/e"],
])("where %s, files and folders are as they were, and as they became", async (_what, made, turn) => {
  const { all, before, after, takeBackLast } = await changedBy(made, turn);
  for (const expected of [before, after, before]) {
    expect(await takeBackLast()).toEqual([]);
    expect(await all()).toEqual(expected);
  }
});

test("what git ignores moves along with the rules of its folder, and is neither deleted nor called new", async () => {
  const made = "mkdir -p a/build; echo build >a/.gitignore; echo 1 >a/x; echo 2 >a/build/y";
  const { cwd, record, plan, takeBack } = await changedBy(made, "mv a b");
  expect(record.files.map(({ path }) => path)).toEqual(["a/.gitignore", "a/x", "b/.gitignore", "b/x"]);
  expect(plan(record).staying).toEqual(["b"]);
  expect(await takeBack(record)).toEqual([]);
  expect(Object.keys(await treeIn(cwd))).toEqual(["a/.gitignore", "a/x", "b/build/y"]);
});

test("rules that a turn makes up hide nothing, in a new folder as in an old one", async () => {
  const { record } = await changedBy(
    "mkdir a; echo 1 >a/x",
    "mkdir b; echo '*' | tee a/.gitignore >b/.gitignore; echo 1 >b/x",
  );
  expect(record.files.map(({ path }) => path)).toEqual(["a/.gitignore", "b/.gitignore", "b/x"]);
});

test("a folder somebody has put something into stays, and so does what is in it", async () => {
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
])("%s where a file was is in the way", async (_what, since) => {
  const { cwd, record, plan } = await changedBy("echo 1 >a", "rm a");
  await run("sh", ["-ec", since], { cwd });
  expect(plan(record).steps).toMatchObject([{ path: "a", obstacle: "blocked" }]);
});

test("a folder that the turn made where a file was is in the way once there is more in it", async () => {
  const { cwd, record, plan } = await changedBy("echo 1 >a", "rm a; mkdir a; echo 2 >a/x");
  await writeFile(join(cwd, "a", "mine"), "3\n");
  expect(plan(record).steps).toMatchObject([{ path: "a", obstacle: "blocked" }, { path: "a/x" }]);
});

test("a file or a link where a folder was is in the way of what was in it", async () => {
  const { cwd, record, plan } = await changedBy("mkdir -p a/b; echo 1 >a/b/x", "rm -r a");
  await writeFile(join(cwd, "a"), "3\n");
  expect(plan(record)).toMatchObject({ steps: [{ path: "a/b/x", obstacle: "blocked" }], folders: [] });
  await rm(join(cwd, "a"));
  await symlink(await temporaryFolder(), join(cwd, "a"));
  expect(plan(record)).toMatchObject({ steps: [{ path: "a/b/x", obstacle: "blocked" }], folders: [] });
});

test("a record without folders removes those that had nothing in them before, as far as it can know", async () => {
  const { all, before, record, takeBack } = await changedBy(
    "echo 1 >a; mkdir b; echo 2 >b/y",
    "rm a; mkdir -p a/b; mv b/y a/b",
  );
  const { folders: _folders, ...old } = record;
  expect(await takeBack(old)).toEqual([]);
  expect(await all()).toEqual(before);
});

test.each(["../out", "/etc/out", "a/../../out", ".git/hooks", "a//b", "nul\0"])(
  "a record that names the folder %j is not obeyed",
  async (path) => {
    const { record, plan } = await changedBy("mkdir -p .git", "echo 1 >x");
    expect(plan({ ...record, folders: [{ path, before: 0o777, after: null }] }).folders).toEqual([]);
  },
);

test("a folder that is a link by now is neither removed nor entered", async () => {
  const { cwd, record, plan, takeBack } = await changedBy("echo 1 >x", "mkdir -p a/b; echo 2 >x");
  const outside = await temporaryFolder();
  await mkdir(join(outside, "b"));
  await rm(join(cwd, "a"), { recursive: true });
  await symlink(outside, join(cwd, "a"));
  expect(plan(record).folders).toEqual([]);
  expect(await takeBack(record)).toEqual([]);
  expect(await placesIn(outside)).toEqual(["b folder 755"]);
});
