import { execFile } from "node:child_process";
import { appendFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  NotRegularError,
  openRegular,
  readAt,
  readRegular,
  readRegularSync,
  TooLargeError,
} from "../../../src/base/fs/open-regular.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test("a regular file is read, and through a link only if links are followed", async () => {
  const folder = await temporaryFolder();
  const [path, link] = [join(folder, "file"), join(folder, "link")];
  await writeFile(path, "text");
  await symlink(path, link);
  for (const links of ["refuse", "follow"] as const) {
    expect((await readRegular(path, { links })).toString()).toBe("text");
    expect(readRegularSync(path, { links }).toString()).toBe("text");
  }
  expect((await readRegular(link, { links: "follow" })).toString()).toBe("text");
  expect(readRegularSync(link, { links: "follow" }).toString()).toBe("text");
  await expect(readRegular(link, { links: "refuse" })).rejects.toMatchObject({
    name: "NotRegularError",
    code: "ELOOP",
  });
  expect(() => readRegularSync(link, { links: "refuse" })).toThrow(NotRegularError);
});

test.each(["refuse", "follow"] as const)("a pipe and a folder are refused at once (links: %s)", async (links) => {
  const folder = await temporaryFolder();
  const pipe = join(folder, "pipe");
  await promisify(execFile)("mkfifo", [pipe]);
  await mkdir(join(folder, "inner"));
  for (const path of [pipe, join(folder, "inner")]) {
    await expect(openRegular(path, { links })).rejects.toThrow(`${path} is not a regular file`);
    expect(() => readRegularSync(path, { links })).toThrow(NotRegularError);
  }
});

test("a missing file fails with ENOENT", async () => {
  const path = join(await temporaryFolder(), "file");
  await expect(readRegular(path, { links: "follow" })).rejects.toMatchObject({ code: "ENOENT" });
  await expect(readRegular(path, { links: "refuse" })).rejects.toMatchObject({ code: "ENOENT" });
});

test("a file over maxBytes is refused, and a growing file is read only up to its size when opened", async () => {
  const path = join(await temporaryFolder(), "file");
  await writeFile(path, "12345");
  await expect(readRegular(path, { links: "refuse", maxBytes: 4 })).rejects.toThrow(TooLargeError);
  expect(() => readRegularSync(path, { links: "refuse", maxBytes: 4 })).toThrow(`${path} is larger than 4 bytes`);
  await using regular = await openRegular(path, { links: "refuse" });
  await appendFile(path, "678");
  expect((await readAt(regular.file, 0, regular.stats.size)).toString()).toBe("12345");
  expect((await readAt(regular.file, 6, 100)).toString()).toBe("78");
});
