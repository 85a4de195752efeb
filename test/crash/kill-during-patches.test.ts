import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";
import { ShortLivedChildren } from "./short-lived-children.js";
import { bundleChild } from "./bundle-child.js";
import { patchedFiles, textOf } from "./versioned-patch.js";
import { rounds, summarize, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

/** The longest delay in event loop rounds; about as long as a patch takes. */
const maxDelay = 40_000;

test(
  "killing a process while it applies a patch leaves each file whole, with its old or new content",
  async () => {
    const { random } = await newWorld();
    const children = new ShortLivedChildren(await bundleChild("patcher"));
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

/** The version each file holds: the last one reported or the next one; otherwise the start of its text. */
async function versionsIn(cwd: string, done: number): Promise<(number | string)[]> {
  const names = (await readdir(cwd)).filter((name) => !name.startsWith(".cody-"));
  const moved = names.filter((name) => name.startsWith("moved-"));
  // A moved file may exist in both places, but never in none.
  expect(moved.length).toBeGreaterThan(0);
  expect(names.filter((name) => !moved.includes(name)).toSorted()).toEqual(patchedFiles.toSorted());
  const versions = names.map(async (name) => {
    const text = await readFile(join(cwd, name), "utf8");
    return [done, done + 1].find((version) => text === textOf(version)) ?? `${name}: ${text.slice(0, 100)}`;
  });
  return await Promise.all(versions);
}
