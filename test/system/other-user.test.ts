import { spawn } from "node:child_process";
import { chmod, chown, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, commandOf, finished } from "../support/cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Runs as another user, because root can write everywhere. Needs root, and a checkout that every user can read. */
const nobody = { uid: 65_534, gid: 65_534 };

test("doctor reports a directory that cannot be written, also one that does not exist yet", async () => {
  const cli = await Cli.open({ spawned: true });
  const folder = join(cli.project, "read-only");
  await mkdir(folder);
  await chmod(cli.project, 0o755);
  await chmod(folder, 0o555);
  for (const directory of [folder, join(folder, "below")]) {
    const [program, ...args] = commandOf(["doctor", "--conversation-dir", directory]);
    const env = { ...cli.env, XDG_RUNTIME_DIR: "" };
    const { code, stdout } = await finished(spawn(program, args, { cwd: "/", env, stdio: "pipe", ...nobody }));
    expect(code).toBe(1);
    expect(stdout).toContain(`✗ ${directory}: cannot write to it: permission denied\n`);
  }
});

test("compiled code is not cached in another user's folder", async () => {
  const cli = await Cli.open({ spawned: true });
  const caches = await temporaryFolder();
  const env = { NODE_DISABLE_COMPILE_CACHE: "", XDG_CACHE_HOME: caches };
  await chown(caches, nobody.uid, nobody.gid);
  expect(await cli.run(["list"], { env })).toMatchObject({ code: 0 });
  expect(await readdir(caches)).toEqual([]);
  await chown(caches, 0, 0);
  expect(await cli.run(["list"], { env })).toMatchObject({ code: 0 });
  expect(await readdir(caches)).toEqual(["cody"]);
});
