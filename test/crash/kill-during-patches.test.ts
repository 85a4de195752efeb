import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";
import { BriefChildren } from "./brief-children.js";
import { bundleChild } from "./bundle-child.js";
import { patchedFiles, textOf } from "./patch-of.js";
import { rounds, summarize, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

/** As long as a patch takes, from its beginning to its end. */
const maxDelay = 40_000;

test(
  "whenever who applies a patch is killed, each file is whole, and as it was or as it shall be",
  async () => {
    const { random } = await newWorld();
    const children = new BriefChildren(await bundleChild("patcher"));
    let parted = 0;
    for (let round = 0; round < rounds.patches; round += 1) {
      const cwd = await temporaryFolder();
      await putVersion(cwd, 0);
      const moment = { reports: random.whole(1, 2), delay: random.whole(0, maxDelay) };
      const reports = await children.kill({ cwd, from: 0 }, moment);
      const done = reports.at(-1)?.round ?? 0;
      const versions = await versionsIn(cwd, done);
      expect(versions.filter((version) => version !== done && version !== done + 1)).toEqual([]);
      if (new Set(versions).size > 1) parted += 1;
    }
    summarize(`patches: every file whole after ${rounds.patches} kills, ${parted} of them between two files`);
  },
  timeoutMs,
);

async function putVersion(cwd: string, version: number): Promise<void> {
  for (const name of [...patchedFiles, `moved-${version}`]) await writeFile(join(cwd, name), textOf(version));
}

/** Of each file which version it holds: the last that was reported or the next, or else how it begins. */
async function versionsIn(cwd: string, done: number): Promise<(number | string)[]> {
  const names = (await readdir(cwd)).filter((name) => !name.startsWith(".cody-"));
  const moved = names.filter((name) => name.startsWith("moved-"));
  // What is moved may stand in both places, never in none.
  expect(moved.length).toBeGreaterThan(0);
  expect(names.filter((name) => !moved.includes(name)).toSorted()).toEqual(patchedFiles.toSorted());
  const versions = names.map(async (name) => {
    const text = await readFile(join(cwd, name), "utf8");
    return [done, done + 1].find((version) => text === textOf(version)) ?? `${name}: ${text.slice(0, 100)}`;
  });
  return await Promise.all(versions);
}
