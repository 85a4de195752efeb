import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxProbe } from "../../src/sandbox/sandbox-program.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A folder with a program of this name; it counts its runs in a file. */
async function folderWith(script: string): Promise<string> {
  const folder = await temporaryFolder();
  const path = join(folder, "bwrap");
  await writeFile(path, `#!/bin/sh\necho run >> ${folder}/runs\n${script}\n`);
  await chmod(path, 0o755);
  return folder;
}

test("a program that creates a sandbox works, and is probed once", async () => {
  const folder = await folderWith("exit 0");
  const probe = new SandboxProbe(`/missing:${folder}`);
  const path = join(folder, "bwrap");
  const expected = { status: { works: true, detail: `bubblewrap ${path}` }, program: { path, mountsProc: true } };
  expect(await Promise.all([probe.result([]), probe.result([])])).toEqual([expected, expected]);
});

test("without the right to mount /proc, the sandbox has that of the container", async () => {
  const folder = await folderWith('case " $* " in *" --proc "*) echo "bwrap: Can\'t mount proc" >&2; exit 1;; esac');
  const { status, program } = await new SandboxProbe(folder).result([]);
  expect(status).toEqual({ works: true, detail: `bubblewrap ${folder}/bwrap, with the /proc of this container` });
  expect(program?.mountsProc).toBe(false);
});

test("the reason says what bubblewrap says", async () => {
  const folder = await folderWith("echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
  const { status } = await new SandboxProbe(folder).result([]);
  expect(status).toMatchObject({
    works: false,
    reason: expect.stringContaining(`${folder}/bwrap cannot create a sandbox: No permissions to create new namespace`),
  });
});

test("a program that says nothing is described by its end", async () => {
  const { status } = await new SandboxProbe(await folderWith("kill -9 $$")).result([]);
  expect(status).toMatchObject({ works: false, reason: expect.stringContaining("it ended by SIGKILL") });
});

test("a program that commands could have written is not used, nor one in a relative folder", async () => {
  const [folder, other] = [await folderWith("exit 0"), await folderWith("exit 0")];
  await mkdir(join(folder, "bin"));
  await symlink(join(folder, "bwrap"), join(folder, "bin", "bwrap"));
  const path = (...parts: string[]) => new SandboxProbe(parts.join(":")).result([folder]);
  const missing = { works: false, reason: expect.stringContaining("bwrap is not on PATH") };
  expect((await path(folder)).status).toMatchObject(missing);
  expect((await path(join(folder, "bin"), ".", "")).status).toMatchObject(missing);
  expect((await path(folder, other)).program?.path).toBe(join(other, "bwrap"));
  expect((await new SandboxProbe(undefined).result([])).status).toMatchObject(missing);
});
