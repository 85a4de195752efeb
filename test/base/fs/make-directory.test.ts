import { chmod, mkdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDirectory } from "../../../src/base/fs/make-directory.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test("missing directories are created with mode 700, and existing ones keep their mode", async () => {
  const folder = await temporaryFolder();
  const open = join(folder, "open");
  await mkdir(open);
  await chmod(open, 0o755);
  await makeDirectory(join(open, "a", "b"));
  const modes = await Promise.all(
    [open, join(open, "a"), join(open, "a", "b")].map(async (path) => (await stat(path)).mode),
  );
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o755, 0o700, 0o700]);
  await makeDirectory(join(open, "a", "b"));
});

test("a directory that cannot be created rejects with the system's error", async () => {
  const folder = await temporaryFolder();
  await symlink(join(folder, "nowhere"), join(folder, "link"));
  await expect(makeDirectory(join(folder, "link", "a"))).rejects.toThrow("ENOENT");
});
