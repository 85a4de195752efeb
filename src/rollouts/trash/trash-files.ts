import { constants, type Stats } from "node:fs";
import { chmod, link, lstat, mkdir, open, readdir, rename, rmdir, unlink, readFile } from "node:fs/promises";
import { dirname, basename, join } from "node:path";
import { createFlags } from "../../base/fs/open-regular.js";
import { writeNew } from "../../base/fs/write-atomic.js";
import { isConversationId } from "../../base/text/conversation-id.js";
import { TrashEntry } from "../../messages/cleanup.js";

/** Name of the file that describes a trash folder. */
export const entryName = "entry.json";

/** Name of the mark in a folder that is being removed permanently. */
export const removingName = "removing";

const maxEntryBytes = 16 * 1024 * 1024;

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
    const created = await mkdir(path, { recursive: true, mode: 0o700 });
    if (created === undefined) return;
    await chmod(path, 0o700);
    await syncFolder(dirname(created));
  },
  writeNew,
  link,
  copy: async (from, to) => {
    await using source = await open(from, reading);
    await using target = await open(to, createFlags, 0o600);
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

/** A conversation in the trash, with its folder. */
export interface Trashed extends TrashEntry {
  readonly folder: string;
}

/** Lists the trash, newest first. Folders without a valid entry are ignored. */
export async function trashed(files: TrashFiles, trash: string): Promise<Trashed[]> {
  const folders = (await files.stats(trash)) === undefined ? [] : await files.names(trash);
  const entries = await Promise.all(folders.map((name) => readEntry(files, join(trash, name))));
  return entries
    .filter((entry) => entry !== undefined)
    .toSorted((a, b) =>
      a.trashedAt < b.trashedAt ? 1 : a.trashedAt > b.trashedAt ? -1 : a.folder < b.folder ? 1 : -1,
    );
}

export async function readEntry(files: TrashFiles, folder: string): Promise<Trashed | undefined> {
  const path = join(folder, entryName);
  try {
    const stats = await files.stats(path);
    if (stats === undefined || !stats.isFile() || stats.size > maxEntryBytes) return undefined;
    const { success, data } = TrashEntry.safeParse(JSON.parse(await readFile(path, "utf8")));
    return success && isConversationId(data.id) ? { ...data, folder } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a file's original path and its path in the trash. */
export function placesOf({ path, folder }: Pick<Trashed, "path" | "folder">, name: string): [from: string, to: string] {
  return [join(dirname(path), name), join(folder, name)];
}

/** Returns the name of the trash folder by which users refer to an entry. */
export function entryKey({ folder }: Pick<Trashed, "folder">): string {
  return basename(folder);
}
