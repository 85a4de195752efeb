import { basename, dirname, join } from "node:path";
import { ConversationInUseError } from "../../base/errors.js";
import type { LockOwner } from "../../messages/actors/rollout-writer.js";
import { isSameFile, moveFile } from "./move-file.js";
import { removeEmptyFolders } from "./move-to-trash.js";
import { putBack, removeEmptied, withLock, removeEntry } from "./restore.js";
import { entryName, placesOf, readEntry, removingName, type Trashed, type TrashFiles } from "./trash-files.js";

/**
 * Finishes the work of processes that died. If the rollout is still in its old place, the conversation is put back;
 * if it is in the trash, the remaining files follow; a removal that had begun is completed. Entries that are in use
 * or unclear are left alone.
 */
export async function finishInterrupted(files: TrashFiles, trash: string, owner: LockOwner): Promise<void> {
  for (const name of (await files.stats(trash)) === undefined ? [] : await files.names(trash)) {
    // A lock may remain of a folder that is gone; taking and releasing it removes it.
    const folder = join(trash, name.replace(/\.lock$/, ""));
    const isFolder = (await files.stats(folder))?.isDirectory() === true;
    if (isFolder ? await isSettled(files, folder) : !name.endsWith(".lock")) continue;
    await withLock(folder, name, owner, async () => {
      const entry = await readEntry(files, folder);
      if (entry !== undefined) await settle(files, entry);
      else if (await isEmptied(files, folder)) await removeEmptied(files, folder);
    }).catch((error: unknown) => {
      // A later run may succeed; nothing is lost until then.
      if (!(error instanceof ConversationInUseError) && !(error instanceof Error && "code" in error)) throw error;
    });
  }
}

/** Checked before taking the lock, because it is true for nearly all entries. */
async function isSettled(files: TrashFiles, folder: string): Promise<boolean> {
  const entry = await readEntry(files, folder);
  if (entry === undefined || (await files.stats(join(folder, removingName))) !== undefined) return false;
  const places = entry.files.map(({ name }) => placesOf(entry, name));
  const left = await Promise.all(places.map(async ([from]) => (await files.stats(from)) !== undefined));
  return !left.includes(true);
}

async function settle(files: TrashFiles, entry: Trashed): Promise<void> {
  const [from, to] = placesOf(entry, basename(entry.path));
  if ((await files.stats(join(entry.folder, removingName))) !== undefined) {
    await finishRemoving(files, entry);
    return;
  }
  const [isThere, isTrashed] = [(await files.stats(from)) !== undefined, (await files.stats(to)) !== undefined];
  if (isThere && isTrashed && !(await isSameFile(files, from, to))) return;
  if (isThere) await putBack(files, entry);
  else if (isTrashed) await follow(files, entry);
}

/**
 * Whether the folder holds no conversation files. The entry is written before the first move and removed after the
 * last.
 */
async function isEmptied(files: TrashFiles, folder: string): Promise<boolean> {
  if ((await files.stats(folder)) === undefined) return false;
  return (await files.names(folder)).every((name) => name === entryName || name === removingName);
}

async function follow(files: TrashFiles, entry: Trashed): Promise<void> {
  for (const { name } of entry.files) {
    const [from, to] = placesOf(entry, name);
    if ((await files.stats(from)) === undefined) continue;
    if (dirname(to) !== entry.folder) await files.makeFolder(dirname(to));
    if ((await files.stats(to)) === undefined) await moveFile(files, from, to);
    // A move was interrupted between creating the new name and removing the old one.
    else if (await isSameFile(files, from, to)) await files.remove(from);
  }
  await removeEmptyFolders(files, entry);
}

/** The result of a permanent removal. */
interface Removed {
  readonly bytes: number;
  /** Files with another hard link, whose bytes were not overwritten and still exist. */
  readonly hardLinked: readonly string[];
}

/**
 * Removes a conversation from the trash permanently and overwrites its bytes first. Copies in a journal, on the
 * device or in a backup are out of reach.
 */
export async function removeForGood(files: TrashFiles, { folder, id }: Trashed, owner: LockOwner): Promise<Removed> {
  return await withLock(folder, id, owner, async () => {
    const entry = await readEntry(files, folder);
    return entry === undefined ? { bytes: 0, hardLinked: [] } : await finishRemoving(files, entry);
  });
}

/** Once the mark is written the removal is final, even if the process dies in between. */
async function finishRemoving(files: TrashFiles, entry: Trashed): Promise<Removed> {
  let bytes = 0;
  const hardLinked: string[] = [];
  const mark = join(entry.folder, removingName);
  if ((await files.stats(mark)) === undefined) await files.writeNew(mark, "");
  await files.sync(entry.folder);
  for (const { name } of entry.files) {
    const [, path] = placesOf(entry, name);
    const stats = await files.stats(path);
    if (stats === undefined) continue;
    // Another hard link was created on purpose, so its content is kept.
    if (stats.nlink > 1) hardLinked.push(name);
    else if (stats.isFile()) {
      await files.blank(path);
      bytes += stats.size;
    }
    await files.remove(path);
    await files.sync(dirname(path));
  }
  await removeEntry(files, entry);
  return { bytes, hardLinked };
}
