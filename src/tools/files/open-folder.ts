import { constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { FileProblem } from "./file-problem.js";

/** Linux's O_PATH, which Node does not export: folders like /home can often be traversed but not listed. */
const pathOnly = process.platform === "linux" ? 0o10000000 : constants.O_RDONLY;

/** An open folder: operations by name act inside it, even if its path leads elsewhere by then. */
export class OpenFolder {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #byHandle: boolean;

  constructor(handle: FileHandle, path: string, byHandle: boolean) {
    this.#handle = handle;
    this.#path = path;
    this.#byHandle = byHandle;
  }

  /** The path of an entry in the folder. */
  at(name: string): string {
    return join(this.#byHandle ? `/proc/self/fd/${this.#handle.fd}` : this.#path, name);
  }

  /** Opens a subfolder, created if it does not exist; never follows a symbolic link. */
  async enter(name: string): Promise<OpenFolder> {
    const path = this.at(name);
    const handle = await openDirectory(path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      await mkdir(path).catch(ignoreExisting);
      return await openDirectory(path);
    });
    return new OpenFolder(handle, join(this.#path, name), this.#byHandle);
  }

  /** Where paths cannot start at a handle, this at least detects that the path now leads elsewhere. */
  async verify(): Promise<void> {
    if (this.#byHandle || (await realpath(this.#path)) === this.#path) return;
    throw new FileProblem("its folder was replaced in the meantime");
  }

  /** Nothing is written through the handle, so an error on closing loses no data. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }
}

/** Opens nested folders one after another from a trusted root, so that none can be swapped for a symbolic link. */
export async function openFolder(
  root: string,
  names: readonly string[],
  byHandle = process.platform === "linux",
): Promise<OpenFolder> {
  let folder = new OpenFolder(await openDirectory(root), root, byHandle);
  for (const name of names) {
    await using left = folder;
    folder = await left.enter(name);
  }
  return folder;
}

function openDirectory(path: string): Promise<FileHandle> {
  return open(path, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
