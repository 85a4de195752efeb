import { failureWords } from "../failure-words.js";
import { FileProblem } from "../files/file-problem.js";
import { NewFolders } from "./new-folders.js";
import type { PlannedFile } from "./plan-patch.js";
import { StagedFile } from "./staged-file.js";

/**
 * Replaces, makes and removes files: all of them, or none. When the process dies meanwhile, each is as it was or as it
 * shall be. `accept` is asked before the first and throws when nothing may be done any more.
 */
export async function commitFiles(files: readonly PlannedFile[], accept: () => void): Promise<readonly StagedFile[]> {
  // What is moved is in two places for a moment, rather than in none.
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
    throw lost.length === 0 ? error : new FileProblem([failureWords(error), ...lost].join("; "), { cause: error });
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

/** The last first; gives what could not be put back. */
async function rollBack(staged: readonly StagedFile[]): Promise<string[]> {
  const lost: string[] = [];
  for (const file of staged.toReversed()) {
    await file.rollBack().catch((error: unknown) => lost.push(failureWords(error)));
  }
  return lost;
}

async function named<T>(file: { readonly realPath: string }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new FileProblem(`${file.realPath}: ${failureWords(error)}`, { cause: error });
  }
}
