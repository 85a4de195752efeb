import { constants, type Stats } from "node:fs";
import { chmod, link, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/** The system calls used to move a conversation, so that a test can make any of them fail or die. */
export interface TrashFiles {
  /** Returns undefined when nothing exists at the path. */
  stats(path: string): Promise<Stats | undefined>;
  names(folder: string): Promise<string[]>;
  /** Creates a folder and its parents with access for the owner only; an existing folder stays unchanged. */
  makeFolder(path: string): Promise<void>;
  /** Creates and syncs a new file. */
  writeNew(path: string, text: string): Promise<void>;
  /** Fails if the name is taken. */
  link(from: string, to: string): Promise<void>;
  /** Copies the bytes and times of a file to a new one, which is durable when the promise resolves. */
  copy(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  removeFolder(path: string): Promise<void>;
  /** Overwrites a file with zeros and truncates it. */
  blank(path: string): Promise<void>;
  /** Makes created and removed names in a folder durable. */
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
