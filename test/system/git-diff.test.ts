import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TurnDiffTracker } from "../../src/changes/turn-diff-tracker.js";
import { changesOf, editSequences, type Tree } from "../support/edit-sequences.js";
import { plainTree, putTree, treeIn } from "../support/file-trees.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const sequences = Number(process.env["CODY_DIFF_SEQUENCES"] ?? 1_000);

test("numbers are those of git diff --numstat, and git apply makes of the old files the new ones", async () => {
  const folder = await temporaryFolder();
  const patch = join(await temporaryFolder(), "diff.patch");
  const git = async (...args: string[]) =>
    (await run("git", args, { cwd: folder, maxBuffer: 1e9, env: { ...process.env, ...plainGit } })).stdout;
  await git("init", "--quiet");
  let files = 0;
  await fc.assert(
    fc.asyncProperty(editSequences, async (sequence) => {
      const [old, now] = [await treeName(sequence.before), await treeName(sequence.after)];
      const tracker = new TurnDiffTracker();
      changesOf(sequence).forEach((change) => tracker.record(change));
      expect(ourNumbers(tracker)).toEqual(numbers(await git("diff", "--numstat", "--no-renames", "-z", old, now)));
      files += tracker.files.length;
      if (tracker.isEmpty) return;
      await writeFile(patch, tracker.generateUnifiedDiff());
      await putTree(folder, sequence.before);
      await git("apply", "--check", patch);
      await git("apply", patch);
      expect(await treeIn(folder)).toEqual(plainTree(sequence.after));
      await git("apply", "--check", "--reverse", patch);
      await git("apply", "--reverse", patch);
      expect(await treeIn(folder)).toEqual(plainTree(sequence.before));
    }),
    { numRuns: sequences, endOnFailure: true },
  );
  console.log(`${sequences} sequences, ${files} changed files`);

  async function treeName(tree: Tree): Promise<string> {
    await putTree(folder, tree);
    await git("add", "--all");
    return (await git("write-tree")).trim();
  }
}, 1_200_000);

/** Nothing of what a user has configured. */
const plainGit = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

function ourNumbers(tracker: TurnDiffTracker): Record<string, string> {
  return Object.fromEntries(
    tracker.files.map(({ path, additions, deletions, binary }) => [
      path,
      binary === true ? "- -" : `${additions} ${deletions}`,
    ]),
  );
}

function numbers(output: string): Record<string, string> {
  const rows = output.split("\0").filter((row) => row !== "");
  return Object.fromEntries(
    rows.map((row) => {
      const [added = "", deleted = "", ...rest] = row.split("\t");
      return [rest.join("\t"), `${added} ${deleted}`];
    }),
  );
}
