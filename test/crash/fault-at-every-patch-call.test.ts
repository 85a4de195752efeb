import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { takeSnapshot } from "../../src/changes/workspace/snapshot.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { ShortLivedChildren } from "./short-lived-children.js";
import { bundleChild } from "./bundle-child.js";
import { patchFaults, type PatchPoint } from "./patch-disk.js";
import type { PatchEnd, PatchOrder } from "./patch-victim.js";
import { points, summarize, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

/** The entries of a folder by path: the text of a file, or an empty string for an empty folder. */
type Contents = Readonly<Record<string, string>>;

const before: Contents = {
  "deleted.txt": "goes\n",
  "empty/": "",
  "moved.txt": "moved, old\n",
  "src/updated.txt": "updated, old\n",
  "untouched.txt": "stays\n",
};
const after: Contents = {
  "empty/added.txt": "added here\n",
  "new/deep/added.txt": "added\n",
  "new/moved.txt": "moved, new\n",
  "src/updated.txt": "updated, new\n",
  "untouched.txt": "stays\n",
};
const input = `*** Begin Patch
*** Update File: src/updated.txt
-updated, old
+updated, new
*** Delete File: deleted.txt
*** Update File: moved.txt
*** Move to: new/moved.txt
-moved, old
+moved, new
*** Add File: new/deep/added.txt
+added
*** Add File: empty/added.txt
+added here
*** End Patch`;

const halved = new Set(["writeFile", "copyFile"]);

/** Never kill the child: it kills itself. */
const byItself = { reports: Infinity, delay: 0 };

test.each(patchFaults)(
  "a patch that meets %s at any disk call leaves every file whole and no temporary file that is never removed",
  async (fault) => {
    const { random } = await newWorld();
    const children = new ShortLivedChildren(await bundleChild("patch-victim"));
    const cwd = join(await temporaryFolder(), "workspace");

    async function play(point?: PatchPoint): Promise<PatchEnd | undefined> {
      await put(cwd, before);
      return await apply(input, point);
    }

    async function apply(patch: string, point?: PatchPoint): Promise<PatchEnd | undefined> {
      const order: PatchOrder = { cwd, input: patch, ...(point === undefined ? {} : { point }) };
      const said = (await children.kill(order, byItself))[0]?.message;
      return said === undefined ? undefined : (JSON.parse(said) as PatchEnd);
    }

    const whole = await play();
    expect(whole).toMatchObject({ success: true, open: 0 });
    expect(await contentsOf(cwd)).toEqual(after);
    const calls = whole?.calls ?? [];
    const all = calls.map((_, index) => index + 1);
    // A half-done call differs from one that was not made only where something is written.
    const distinct = all.filter((number) => fault !== "half" || halved.has(calls[number - 1] ?? ""));
    const numbers = random.sample(distinct, points.faults);
    for (const number of numbers) {
      const end = await play({ number, fault });
      const found = await contentsOf(cwd);
      const problems = [...problemsOf(end, found), ...wrongStrays(await swept(cwd), found)];
      expect(problems, `${number} ${calls[number - 1]}: ${end?.content}`).toEqual([]);
    }
    summarize(`a patch that meets ${fault}: ${calls.length} calls, ${numbers.length} tried`);
  },
  timeoutMs,
);

function isStray(path: string): boolean {
  return /(?:^|\/)\.cody-[^/]*$/.test(path);
}

/** A process that finishes reports what it did, and leaves only files that the disk refused to remove. */
function problemsOf(end: PatchEnd | undefined, found: Contents): string[] {
  const files = Object.fromEntries(Object.entries(found).filter(([path]) => !isStray(path)));
  if (end === undefined) return wrongFiles(files);
  const isAsSaid = isDeepStrictEqual(files, end.success ? after : before);
  const strays = Object.keys(found).filter(isStray);
  return [
    ...(isAsSaid ? [] : [`not as it is said: ${JSON.stringify(files)}`]),
    ...(end.open === 0 ? [] : [`${end.open} handles are open`]),
    ...(strays.length <= end.failedRemovals ? [] : strays),
  ];
}

/** After a death each file has its old or its new content, and a moved file exists in at least one place. */
function wrongFiles(found: Contents): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(found)]);
  const files = [...paths].filter((path) => !path.endsWith("/"));
  const wrong = files.filter((path) => found[path] !== before[path] && found[path] !== after[path]);
  const isMovedThere = "moved.txt" in found || "new/moved.txt" in found;
  return isMovedThere ? wrong : [...wrong, "moved.txt"];
}

/** Starts a turn that changes something in the folder, which cleans up; returns the entries found then. */
async function swept(cwd: string): Promise<Contents> {
  const home = await temporaryFolder();
  const places = {
    workspaces: join(home, "workspaces"),
    folder: join(home, "snapshots"),
    outside: [],
    maxBytes: 1e6,
    secrets: [],
  };
  expect(await takeSnapshot({ ...places, cwd, turnId: "next", now: Date.now() })).toEqual({ status: "taken" });
  return await contentsOf(cwd);
}

/** The only temporary file that may stay is one with the old content of a file that has changed. */
function wrongStrays(found: Contents, files: Contents): string[] {
  const lost = Object.entries(before).filter(([path, text]) => files[path] !== text);
  const isLastCopy = (text: string | undefined) => lost.some(([, old]) => old === text);
  return Object.keys(found).filter((path) => isStray(path) && !(path.endsWith(".old") && isLastCopy(found[path])));
}

async function put(folder: string, contents: Contents): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(join(folder, path, path.endsWith("/") ? "" : ".."), { recursive: true });
    if (!path.endsWith("/")) await writeFile(join(folder, path), text);
  }
}

async function contentsOf(folder: string): Promise<Contents> {
  const names = await readdir(folder, { recursive: true });
  const entries = names.toSorted().map(async (name): Promise<(readonly [string, string])[]> => {
    const path = join(folder, name);
    if (!(await stat(path)).isDirectory()) return [[name, await readFile(path, "utf8")]];
    return (await readdir(path)).length === 0 ? [[`${name}/`, ""]] : [];
  });
  return Object.fromEntries((await Promise.all(entries)).flat());
}
