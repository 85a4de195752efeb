import { constants, type Stats } from "node:fs";
import { chmod, link, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/** The calls that moving a conversation needs, so that a test can let any one of them fail, or die at it. */
export interface TrashFiles {
  /** Undefined when there is nothing. */
  stats(path: string): Promise<Stats | undefined>;
  names(folder: string): Promise<string[]>;
  /** Makes it and what leads to it, for its owner alone; one that is there stays as it is. */
  makeFolder(path: string): Promise<void>;
  /** Makes a file that was not there, and makes it durable. */
  writeNew(path: string, text: string): Promise<void>;
  /** Refuses a name that is taken. */
  link(from: string, to: string): Promise<void>;
  /** The bytes and times of a file in a new one, which is durable when it resolves. */
  copy(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  removeFolder(path: string): Promise<void>;
  /** Writes zeros over the bytes of a file and makes it empty. */
  blank(path: string): Promise<void>;
  /** Makes names in a folder durable, new ones and those that are gone. */
  sync(folder: string): Promise<void>;
}

const reading = constants.O_RDONLY | constants.O_NOFOLLOW;
const creating = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const chunkBytes = 256 * 1024;
const zeros = Buffer.alloc(chunkBytes);

export const nodeTrashFiles: TrashFiles = {
  stats: (path) =>
    lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      throw error;
    }),
  names: (folder) => readdir(folder),
  makeFolder: async (path) => {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made === undefined) return;
    await chmod(path, 0o700);
    await syncFolder(dirname(made));
  },
  writeNew: async (path, text) => {
    await using file = await open(path, creating, 0o600);
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  },
  link,
  copy: async (from, to) => {
    await using source = await open(from, reading);
    await using target = await open(to, creating, 0o600);
    await target.chmod(0o600);
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      await target.appendFile(buffer.subarray(0, bytesRead));
    }
    const { atimeMs, mtimeMs } = await source.stat();
    await target.utimes(atimeMs / 1000, mtimeMs / 1000);
    await target.sync();
  },
  rename,
  remove: unlink,
  removeFolder: rmdir,
  blank: async (path) => {
    await using file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    const { size } = await file.stat();
    for (let at = 0; at < size; at += zeros.length) await file.write(zeros, 0, Math.min(zeros.length, size - at), at);
    await file.sync();
    await file.truncate(0);
    await file.sync();
  },
  sync: syncFolder,
};

async function syncFolder(folder: string): Promise<void> {
  await using file = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await file.sync();
}
