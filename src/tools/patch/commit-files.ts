import { lstat, rmdir, access, copyFile, link, rename, rm, unlink } from "node:fs/promises";
import { join, dirname } from "node:path";
import { constants } from "node:fs";
import { systemCode } from "../../base/system-error.js";
import { failureText, FileProblem } from "../files/file-problem.js";
import { type FileStamp, stampOf } from "../files/file-stamps.js";
import { openFolder, type OpenFolder } from "../files/open-folder.js";
import { statExisting, rejectChanged, writeTemporary } from "../files/replace-file.js";
import { newTemporaryName } from "../files/temporary-name.js";
import type { WriteTarget } from "../policy/target-paths.js";
import type { PlannedFile } from "./plan-patch.js";

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
  readonly #created: { readonly root: string; readonly folders: readonly string[] }[] = [];

  /** Records missing folders before they are created. */
  async note({ root, folders }: WriteTarget): Promise<void> {
    for (let count = 1; count <= folders.length; count += 1) {
      const path = folders.slice(0, count);
      // On any other error, the folder is assumed to exist, so that an empty folder of the user's is never removed.
      const isMissing = await lstat(join(root, ...path)).then(
        () => false,
        (error: unknown) => systemCode(error) === "ENOENT",
      );
      if (isMissing) this.#created.push({ root, folders: path });
    }
  }

  /**
   * Removes the innermost first, and never through a symbolic link. A folder that is not empty, or gone, is left alone.
   */
  async remove(): Promise<void> {
    for (const { root, folders } of this.#created.toReversed()) {
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

/**
 * A file that is ready to be replaced: its new content, and a second name for the old content, are already on disk
 * beside it. Nothing afterwards needs disk space, so a rollback works even on a full disk.
 */
class StagedFile {
  readonly #file: PlannedFile;
  readonly #folder: OpenFolder;
  readonly #temporary: string;
  readonly #backupName: string;
  readonly #backup: string;
  #stamp: FileStamp | undefined;
  #state: "staged" | "touched" | "committed" = "staged";
  #isLost = false;

  private constructor(file: PlannedFile, folder: OpenFolder) {
    const name = newTemporaryName();
    this.#file = file;
    this.#folder = folder;
    this.#temporary = folder.at(`${name}.tmp`);
    this.#backupName = `${name}.old`;
    this.#backup = folder.at(this.#backupName);
  }

  static async stage(file: PlannedFile): Promise<StagedFile> {
    const staged = new StagedFile(file, await openFolder(file.target.root, file.target.folders));
    try {
      await staged.#prepare();
      return staged;
    } catch (error) {
      await staged.release();
      throw error;
    }
  }

  /** The stamp of the new file; undefined if the file is removed. */
  get stamp(): FileStamp | undefined {
    return this.#stamp;
  }

  get realPath(): string {
    return this.#file.target.realPath;
  }

  /** Rejects if the file is no longer the one that the patch was made for. */
  async check(): Promise<void> {
    await this.#folder.verify();
    rejectChanged(this.#file.old, await statExisting(this.#path));
  }

  async commit(): Promise<void> {
    await this.check();
    const { old, content } = this.#file;
    // A system call may fail after it has taken effect.
    this.#state = "touched";
    if (content === undefined) await unlink(this.#path);
    else if (old === undefined) await this.#createFile();
    else await rename(this.#temporary, this.#path);
    this.#state = "committed";
    await this.#folder.verify();
  }

  /** Restores the old file. */
  async rollBack(): Promise<void> {
    if (this.#state === "staged") return;
    try {
      const isOurs = await this.#isOurs();
      if (this.#file.old !== undefined && (isOurs || this.#state === "committed")) {
        await rename(this.#backup, this.#path);
      } else if (isOurs) await unlink(this.#path);
      this.#state = "staged";
    } catch {
      this.#isLost = true;
      const backup = join(dirname(this.realPath), this.#backupName);
      throw new FileProblem(`cannot restore ${this.realPath}; its old content is in ${backup}`);
    }
  }

  /** Removes the temporary files. */
  async release(): Promise<void> {
    const left = this.#isLost ? [this.#temporary] : [this.#temporary, this.#backup];
    // A temporary file that cannot be removed does no harm.
    await Promise.all(left.map((path) => rm(path, { force: true }).catch(() => undefined)));
    await this.#folder[Symbol.asyncDispose]();
  }

  get #path(): string {
    return this.#folder.at(this.#file.target.name);
  }

  async #prepare(): Promise<void> {
    const { old, like, content } = this.#file;
    await this.check();
    // A rename needs permission only for the folder; a file that is not writable must be kept.
    if (old !== undefined) await access(this.#path, constants.W_OK);
    if (content !== undefined) this.#stamp = await writeTemporary(this.#temporary, content, like);
    if (old === undefined) return;
    // Not every file system supports hard links.
    await link(this.#path, this.#backup).catch(() => copyFile(this.#path, this.#backup, constants.COPYFILE_EXCL));
  }

  /** Unlike a rename, a hard link never overwrites a file that somebody else created meanwhile. */
  async #createFile(): Promise<void> {
    try {
      await link(this.#temporary, this.#path);
    } catch (error) {
      if (systemCode(error) === "EEXIST") throw new FileProblem("another program created it at the same time");
      await rename(this.#temporary, this.#path);
    }
  }

  /** Whether the path is in the state that the patch should produce. */
  async #isOurs(): Promise<boolean> {
    const now = await statExisting(this.#path);
    if (this.#file.content === undefined) return now === undefined;
    return now !== undefined && this.#stamp !== undefined && stampOf(now) === this.#stamp;
  }
}
