import { basename, dirname, join } from "node:path";
import { ConversationInUseError } from "../../base/errors.js";
import type { LockOwner } from "../../messages/rollout-command.js";
import { isSameFile, moveFile } from "./move-file.js";
import { removeEmptyFolders } from "./move-to-trash.js";
import { finishRemoving } from "./remove-for-good.js";
import { putBack, removeEmptied, locked } from "./restore.js";
import { entryName, placesOf, readEntry, removingName, type Trashed } from "./trash-entry.js";
import type { TrashFiles } from "./trash-files.js";

/**
 * Ends what processes that died have begun: a conversation whose rollout is still where it was has not left, one whose
 * rollout is in the trash is followed by the rest of its files, and one that was being removed is gone. What somebody
 * else is busy with, or cannot be told, is left alone.
 */
export async function settleTrash(files: TrashFiles, trash: string, owner: LockOwner): Promise<void> {
  for (const name of (await files.stats(trash)) === undefined ? [] : await files.names(trash)) {
    // A lock may be left of a folder that is gone: taken and released, it is gone too.
    const folder = join(trash, name.replace(/\.lock$/, ""));
    const isFolder = (await files.stats(folder))?.isDirectory() === true;
    if (isFolder ? await isSettled(files, folder) : !name.endsWith(".lock")) continue;
    await locked(folder, name, owner, async () => {
      const entry = await readEntry(files, folder);
      if (entry !== undefined) await settle(files, entry);
      else if (await isEmptied(files, folder)) await removeEmptied(files, folder);
    }).catch((error: unknown) => {
      // The next one may come further; nothing is lost meanwhile.
      if (!(error instanceof ConversationInUseError) && !(error instanceof Error && "code" in error)) throw error;
    });
  }
}

/** Looked at before the lock, because it is so with nearly all of them. */
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

/** Before anything is moved its folder says so, and after everything is removed it says nothing any more. */
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
    // Both names of one file: the new one was made, the old one not yet taken away.
    else if (await isSameFile(files, from, to)) await files.remove(from);
  }
  await removeEmptyFolders(files, entry);
}
