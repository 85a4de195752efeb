import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TurnDiffTracker } from "../../src/changes/turn-diff-tracker.js";
import { changesOf, editSequences } from "../support/edit-sequences.js";
import { plainTree, putTree, treeIn } from "../support/file-trees.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const sequences = Number(process.env["CODY_DIFF_SEQUENCES"] ?? 1_000);

test("the numbers equal git diff --numstat, and git apply turns the old files into the new ones", async () => {
  const folder = await temporaryFolder();
  const patch = join(folder, "diff.patch");
  const [old, now] = [join(folder, "before"), join(folder, "after")];
  for (const path of [old, now]) await mkdir(path);
  const options = { maxBuffer: 1e9, env: { ...process.env, ...plainGit } };
  let files = 0;
  await fc.assert(
    fc.asyncProperty(editSequences, async (sequence) => {
      await putTree(old, sequence.before);
      await putTree(now, sequence.after);
      const tracker = new TurnDiffTracker();
      changesOf(sequence).forEach((change) => tracker.record(change));
      // git diff exits with 1 when there are differences.
      const numstat = await run(
        "git",
        ["diff", "--no-index", "--numstat", "--no-renames", "-z", old, now],
        options,
      ).catch((error: { stdout: string }) => error);
      expect(ourNumbers(tracker)).toEqual(numbers(numstat.stdout, [`${old}/`, `${now}/`]));
      files += tracker.files.length;
      if (tracker.isEmpty) return;
      await writeFile(patch, tracker.generateUnifiedDiff());
      await run("git", ["apply", "--check", patch], { ...options, cwd: old });
      await run("git", ["apply", patch], { ...options, cwd: old });
      expect(await treeIn(old)).toEqual(plainTree(sequence.after));
    }),
    { numRuns: sequences, endOnFailure: true },
  );
  console.log(`${sequences} sequences, ${files} changed files`);
}, 2_400_000);

/** Without the user's git configuration. */
const plainGit = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

function ourNumbers(tracker: TurnDiffTracker): Record<string, string> {
  return Object.fromEntries(
    tracker.files.map(({ path, additions, deletions, binary }) => [
      path,
      binary === true ? "- -" : `${additions} ${deletions}`,
    ]),
  );
}

/** Each row of numbers is followed by two names; a file that became a symlink has two rows. */
function numbers(output: string, folders: readonly string[]): Record<string, string> {
  const parts = output.split("\0");
  const found = new Map<string, readonly [added: string, deleted: string]>();
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [added = "", deleted = ""] = parts[at]?.split("\t") ?? [];
    const name = [parts[at + 1], parts[at + 2]].find((part) => part !== "/dev/null") ?? "";
    const path = folders.reduce((rest, folder) => (rest.startsWith(folder) ? rest.slice(folder.length) : rest), name);
    const [before, less] = found.get(path) ?? ["0", "0"];
    found.set(path, [sum(before, added), sum(less, deleted)]);
  }
  return Object.fromEntries([...found].map(([path, both]) => [path, both.join(" ")]));
}

function sum(one: string, other: string): string {
  return other === "-" || one === "-" ? "-" : String(Number(one) + Number(other));
}
