import { lstat, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../base/system-error.js";
import { failureText } from "../failure-words.js";
import { FileProblem } from "../files/file-problem.js";
import { openFolder } from "../files/open-folder.js";
import type { WriteTarget } from "../policy/write-target.js";
import type { PlannedFile } from "./plan-patch.js";
import { StagedFile } from "./staged-file.js";

/**
 * Replaces, creates and removes files: all of them, or none. If the process dies meanwhile, each file has its old or
 * its new content. `accept` is called before the first change and throws to prevent it.
 */
export async function commitFiles(files: readonly PlannedFile[], accept: () => void): Promise<readonly StagedFile[]> {
  // Writes come before removals, so that a moved file is in two places for a moment, rather than in none.
  const ordered = [...files.filter(isWritten), ...files.filter((file) => !isWritten(file))];
  const folders = new NewFolders();
  const staged: StagedFile[] = [];
  try {
    for (const file of ordered) {
      await folders.note(file.target);
      staged.push(await named(file.target, () => StagedFile.stage(file)));
    }
    for (const file of staged) await named(file, () => file.check());
    accept();
    for (const file of staged) await named(file, () => file.commit());
  } catch (error) {
    const lost = await rollBack(staged);
    await releaseAll(staged);
    await folders.remove();
    throw lost.length === 0 ? error : new FileProblem([failureText(error), ...lost].join("; "), { cause: error });
  }
  await releaseAll(staged);
  return staged;
}

async function releaseAll(staged: readonly StagedFile[]): Promise<void> {
  await Promise.all(staged.map((file) => file.release()));
}

function isWritten({ content }: PlannedFile): boolean {
  return content !== undefined;
}

/** Rolls back in reverse order; returns the errors of files that could not be restored. */
async function rollBack(staged: readonly StagedFile[]): Promise<string[]> {
  const lost: string[] = [];
  for (const file of staged.toReversed()) {
    await file.rollBack().catch((error: unknown) => lost.push(failureText(error)));
  }
  return lost;
}

async function named<T>(file: { readonly realPath: string }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new FileProblem(`${file.realPath}: ${failureText(error)}`, { cause: error });
  }
}

/** The folders to be created for some files, so that they can be removed again. */
class NewFolders {
  readonly #made: { readonly root: string; readonly folders: readonly string[] }[] = [];

  /** Records missing folders before they are created. */
  async note({ root, folders }: WriteTarget): Promise<void> {
    for (let count = 1; count <= folders.length; count += 1) {
      const path = folders.slice(0, count);
      // On any other error, the folder is assumed to exist, so that an empty folder of the user's is never removed.
      const isMissing = await lstat(join(root, ...path)).then(
        () => false,
        (error: unknown) => systemCode(error) === "ENOENT",
      );
      if (isMissing) this.#made.push({ root, folders: path });
    }
  }

  /**
   * Removes the innermost first, and never through a symbolic link. A folder that is not empty, or gone, is left alone.
   */
  async remove(): Promise<void> {
    for (const { root, folders } of this.#made.toReversed()) {
      const name = folders.at(-1) ?? "";
      try {
        await using parent = await openFolder(root, folders.slice(0, -1));
        await rmdir(parent.at(name));
      } catch {
        // Another process uses the folder by now.
      }
    }
  }
}
