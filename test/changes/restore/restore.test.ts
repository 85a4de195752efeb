import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { planRestore } from "../../../src/changes/restore/plan-restore.js";
import { restore } from "../../../src/changes/restore/restore.js";
import { editSequences } from "../../support/edit-sequences.js";
import { plainTree, putTree, treeIn } from "../../support/file-trees.js";
import { openChanges } from "../../support/open-changes.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const sequences = Number(process.env["CODY_DIFF_SEQUENCES"] ?? 25);

test("undo and redo restore every file byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(editSequences, async ({ before, after }) => {
      const { cwd, home, changes, during, takeBack } = await openChanges();
      await putTree(cwd, before);
      const record = await during(() => putTree(cwd, after)).catch(() => undefined);
      const seen: unknown[] = [];
      for (let next = record; next !== undefined && seen.length < 4; next = (await changes.records()).at(-1)) {
        seen.push(await takeBack(next), await treeIn(cwd));
      }
      expect(seen).toEqual(record === undefined ? [] : [[], plainTree(before), [], plainTree(after)]);
      expect(await treeIn(cwd)).toEqual(plainTree(after));
      for (const gone of [cwd, home]) await rm(gone, { recursive: true });
    }),
    { numRuns: sequences, endOnFailure: true },
  );
  expect.hasAssertions();
}, 1_200_000);

test("undo keeps permissions and restores the executable bit", async () => {
  const { cwd, during, takeBack } = await openChanges();
  for (const name of ["private", "script"]) await writeFile(join(cwd, name), "1\n");
  await chmod(join(cwd, "private"), 0o600);
  await chmod(join(cwd, "script"), 0o750);
  const record = await during(async () => {
    await writeFile(join(cwd, "private"), "2\n");
    await chmod(join(cwd, "script"), 0o640);
  });
  expect(await takeBack(record)).toEqual([]);
  const modes = await Promise.all(
    ["private", "script"].map(async (name) => (await stat(join(cwd, name))).mode & 0o777),
  );
  expect(modes).toEqual([0o600, 0o750]);
});

test.each([
  [0o600, 0o644],
  [0o640, 0o600],
  [0o700, 0o755],
])("undo restores a file of mode %o that was deleted or replaced by one of mode %o", async (was, became) => {
  const { cwd, changes, during, takeBack } = await openChanges();
  const paths = ["deleted", "replaced"].map((name) => join(cwd, name));
  const modes = () => Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777));
  for (const path of paths) {
    await writeFile(path, "1\n");
    await chmod(path, was);
  }
  const record = await during(async () => {
    for (const path of paths) await rm(path);
    await writeFile(join(cwd, "replaced"), "2\n");
    await chmod(join(cwd, "replaced"), became);
  });
  expect(await takeBack(record)).toEqual([]);
  expect(await modes()).toEqual([was, was]);
  const undo = (await changes.records()).at(-1);
  expect(undo?.files.map(({ before, after }) => [before?.permissions, after?.permissions])).toEqual([
    [undefined, was],
    [became, was],
  ]);
});

test("permissions changed after the turn stay", async () => {
  const { cwd, during, takeBack } = await openChanges();
  await writeFile(join(cwd, "a"), "1\n");
  await chmod(join(cwd, "a"), 0o644);
  const record = await during(() => writeFile(join(cwd, "a"), "2\n"));
  await chmod(join(cwd, "a"), 0o600);
  expect(await takeBack(record)).toEqual([]);
  expect((await stat(join(cwd, "a"))).mode & 0o777).toBe(0o600);
});

test.each([
  [0o644, 0o600],
  [0o755, 0o700],
])("with a record without permissions, a deleted file of mode %o is restored with mode %o", async (was, is) => {
  const { cwd, during, takeBack } = await openChanges();
  await writeFile(join(cwd, "a"), "1\n");
  await chmod(join(cwd, "a"), was);
  const record = await during(() => rm(join(cwd, "a")));
  const files = record.files.map(({ path, before, after }) => ({
    path,
    before: before && { mode: before.mode, sha256: before.sha256, bytes: before.bytes },
    after,
  }));
  expect(await takeBack({ ...record, files })).toEqual([]);
  expect((await stat(join(cwd, "a"))).mode & 0o777).toBe(is);
});

test("a file changed between plan and restore is left alone", async () => {
  const { cwd, folder, changes, during } = await openChanges();
  await writeFile(join(cwd, "a"), "1\n");
  const record = await during(() => writeFile(join(cwd, "a"), "2\n"));
  const plan = planRestore(record, folder);
  await writeFile(join(cwd, "a"), "mine\n");
  expect(await restore(plan, record, changes, new Date())).toEqual([
    { path: "a", reason: "it was changed by another program at the same time" },
  ]);
  expect(await readFile(join(cwd, "a"), "utf8")).toBe("mine\n");
});

test("a folder replaced by a symlink between plan and restore is not followed", async () => {
  const { cwd, folder, changes, during } = await openChanges();
  const outside = await temporaryFolder();
  await mkdir(join(cwd, "dir"));
  await writeFile(join(cwd, "dir", "a"), "1\n");
  const record = await during(() => rm(join(cwd, "dir", "a")));
  const plan = planRestore(record, folder);
  await rename(join(cwd, "dir"), join(cwd, "other"));
  await symlink(outside, join(cwd, "dir"));
  expect(await restore(plan, record, changes, new Date())).toMatchObject([{ path: "dir/a" }]);
  expect(await readdir(outside)).toEqual([]);
});

test.each(["../out", "/etc/out", "a/../../out", ".git/hooks/out", "a//b", "nul\0"])(
  "a record with the path %j is refused",
  async (path) => {
    const { cwd, folder, during } = await openChanges();
    const record = await during(() => writeFile(join(cwd, "a"), "1\n"));
    const files = record.files.map((file) => ({ ...file, path, before: file.after, after: null }));
    expect(planRestore({ ...record, files }, folder).steps).toMatchObject([{ path, obstacle: "blocked" }]);
  },
);

test("a workspace that was moved and replaced by a symlink is left alone", async () => {
  const { cwd, folder, during } = await openChanges();
  const record = await during(() => writeFile(join(cwd, "a"), "1\n"));
  await rename(cwd, `${cwd}.moved`);
  await symlink(`${cwd}.moved`, cwd);
  expect(planRestore(record, folder).steps).toMatchObject([{ path: "a", obstacle: "no_root" }]);
  await rm(`${cwd}.moved`, { recursive: true });
});
