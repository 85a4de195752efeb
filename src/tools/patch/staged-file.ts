import { constants } from "node:fs";
import { access, copyFile, link, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../../base/system-error.js";
import { FileProblem } from "../files/file-problem.js";
import { type FileStamp, isSameStamp, stampOf } from "../files/file-stamps.js";
import { openFolder, type OpenFolder } from "../files/open-folder.js";
import { statExisting, rejectChanged, writeTemporary } from "../files/replace-file.js";
import { newTemporaryName } from "../files/stray-name.js";
import type { PlannedFile } from "./plan-patch.js";

/**
 * A file that is ready to be replaced: its new content, and a second name for the old content, are already on disk
 * beside it. Nothing afterwards needs disk space, so a rollback works even on a full disk.
 */
export class StagedFile {
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
    else if (old === undefined) await this.#appear();
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
  async #appear(): Promise<void> {
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
    return now !== undefined && this.#stamp !== undefined && isSameStamp(stampOf(now), this.#stamp);
  }
}
