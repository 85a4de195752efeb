import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeAtomic, writeNew } from "../../../src/base/fs/write-atomic.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test("a file is replaced as a whole, with mode 600", async () => {
  const path = join(await temporaryFolder(), "new/file");
  await writeAtomic(path, "one, and longer");
  await writeAtomic(path, "two");
  expect(await readFile(path, "utf8")).toBe("two");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(path, ".."))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(path, ".."))).toEqual(["file"]);
});

test("concurrent writers leave the complete text of one of them", async () => {
  const path = join(await temporaryFolder(), "file");
  const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(100_000));
  await Promise.all(texts.map((text) => writeAtomic(path, text)));
  expect(texts).toContain(await readFile(path, "utf8"));
  expect(await readdir(join(path, ".."))).toEqual(["file"]);
});

test("a failed write leaves no temporary file", async () => {
  const path = join(await temporaryFolder(), "file");
  await mkdir(join(path, "occupied"), { recursive: true });
  await expect(writeAtomic(path, "text")).rejects.toMatchObject({ code: "EISDIR" });
  expect(await readdir(join(path, ".."))).toEqual(["file"]);
});

test("a write removes temporary files of dead processes and keeps those of running ones", async () => {
  const folder = await temporaryFolder();
  const dead = spawnSync(process.execPath, ["--version"]).pid;
  await writeFile(join(folder, `file.${dead}.1.tmp`), "half");
  await writeFile(join(folder, `file.${process.ppid}.1.tmp`), "whole");
  await writeFile(join(folder, `file.more.${dead}.1.tmp`), "of another file");
  await writeAtomic(join(folder, "file"), "text");
  const left = ["file", `file.${process.ppid}.1.tmp`, `file.more.${dead}.1.tmp`];
  expect((await readdir(folder)).toSorted()).toEqual(left.toSorted());
});

test("writeNew does not write through an existing symbolic link", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "victim"), "untouched");
  await symlink(join(folder, "victim"), join(folder, "link"));
  await expect(writeNew(join(folder, "link"), "text")).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(join(folder, "victim"), "utf8")).toBe("untouched");
});
