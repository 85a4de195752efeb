import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Node 20 has no compile cache. */
const expectedCaches = "enableCompileCache" in nodeModule ? ["cody"] : [];

/** The names in the cache folder after a list. */
async function cachesAfterList(caches: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const cli = await Cli.open({ spawned: true });
  const temporary = await temporaryFolder();
  expect(await cli.run(["list"], { env: { TMPDIR: temporary, ...env } })).toMatchObject({ code: 0 });
  expect(await readdir(temporary)).toEqual([]);
  return await readdir(caches).catch(() => []);
}

test("Node's compile cache is stored in the user's own cache folder if it exists", async () => {
  const home = await temporaryFolder();
  const caches = join(home, ".cache");
  expect(await cachesAfterList(caches, { HOME: home })).toEqual([]);
  await mkdir(caches);
  expect(await cachesAfterList(caches, { HOME: home, NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual([]);
  expect(await cachesAfterList(caches, { HOME: home, NODE_COMPILE_CACHE: await temporaryFolder() })).toEqual([]);
  expect(await cachesAfterList(caches, { HOME: home })).toEqual(expectedCaches);
  expect(await cachesAfterList(caches, { HOME: home })).toEqual(expectedCaches);
  for (const name of expectedCaches) expect((await stat(join(caches, name))).mode & 0o777).toBe(0o700);
  const chosen = await temporaryFolder();
  expect(await cachesAfterList(chosen, { HOME: home, XDG_CACHE_HOME: chosen })).toEqual(expectedCaches);
});

test("Node's compile cache is disabled when others can write to the cache folder or it is not a folder", async () => {
  const caches = await temporaryFolder();
  await chmod(caches, 0o777);
  expect(await cachesAfterList(caches, { XDG_CACHE_HOME: caches })).toEqual([]);
  await chmod(caches, 0o700);
  const ours = join(caches, "cody");
  await mkdir(ours);
  await chmod(ours, 0o770);
  await cachesAfterList(caches, { XDG_CACHE_HOME: caches });
  expect(await readdir(ours)).toEqual([]);
  await cachesAfterList(caches, { XDG_CACHE_HOME: "/dev/null" });
  await cachesAfterList(caches, { XDG_CACHE_HOME: "." });
});
