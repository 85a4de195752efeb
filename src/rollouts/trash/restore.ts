import { dirname, join } from "node:path";
import { ConversationInUseError } from "../../base/errors.js";
import type { LockOwner } from "../../messages/actors/rollout-writer.js";
import { isSameFile, moveFile, partialEnding } from "./move-file.js";
import { entryName, placesOf, readEntry, removingName, type Trashed, type TrashFiles } from "./trash-files.js";
import { releaseLock, acquireLock } from "../file/lock.js";
import { FailureError } from "../../messages/failure-error.js";

/** Restores a conversation to its old place byte for byte; fails if another file is there now. */
export async function restore(files: TrashFiles, { folder, id }: Trashed, owner: LockOwner): Promise<void> {
  await withLock(folder, id, owner, async () => {
    const entry = await readEntry(files, folder);
    if (entry === undefined) throw refused(id, "it is no longer in the trash");
    for (const { name } of entry.files) {
      const [from, to] = placesOf(entry, name);
      const isTaken = (await files.stats(from)) !== undefined && (await files.stats(to)) !== undefined;
      if (isTaken && !(await isSameFile(files, from, to))) throw refused(id, `another file exists at ${from}`);
    }
    await putBack(files, entry);
  });
}

/**
 * Moves files back from the trash, the rollout last, and removes the entry. A file that exists in both places is
 * removed from the trash if it is identical; otherwise it stays there and the call fails.
 */
export async function putBack(files: TrashFiles, entry: Trashed): Promise<void> {
  for (const { name } of entry.files.toReversed()) {
    const [from, to] = placesOf(entry, name);
    if ((await files.stats(to)) === undefined) continue;
    await files.makeFolder(dirname(from));
    if ((await files.stats(from)) === undefined) await moveFile(files, to, from);
    else if (await isSameFile(files, from, to)) await files.remove(to);
    else throw refused(entry.id, `another file exists at ${from}`);
  }
  await files.sync(dirname(entry.path));
  await removeEntry(files, entry);
}

/** Removes a trash folder after all of its files were moved out or deleted. */
export async function removeEntry(files: TrashFiles, entry: Trashed): Promise<void> {
  const { folder, files: moved } = entry;
  const inner = new Set(moved.flatMap(({ name }) => (name.includes("/") ? [dirname(name)] : [])));
  for (const path of moved.flatMap(({ name }) => placesOf(entry, `${name}${partialEnding}`))) {
    if ((await files.stats(path)) !== undefined) await files.remove(path);
  }
  for (const name of inner) {
    if ((await files.stats(join(folder, name))) !== undefined) await files.removeFolder(join(folder, name));
  }
  await removeEmptied(files, folder);
}

/** Removes the entry file before the removal mark, so that a crash in between still shows that the folder is empty. */
export async function removeEmptied(files: TrashFiles, folder: string): Promise<void> {
  for (const name of [entryName, removingName]) {
    if ((await files.stats(join(folder, name))) !== undefined) await files.remove(join(folder, name));
  }
  await files.removeFolder(folder);
  await files.sync(dirname(folder));
}

function refused(id: string, detail: string): FailureError {
  return new FailureError({
    code: "invalid_request",
    message: `Cannot restore conversation ${id}: ${detail}`,
    retryable: false,
  });
}

/** Runs `work` while holding the lock of a rollout or trash folder. */
export async function withLock<T>(path: string, id: string, owner: LockOwner, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(path, owner, { force: false });
  if (lock.status === "in_use") throw new ConversationInUseError(id, lock.owner);
  try {
    return await work();
  } finally {
    await releaseLock(path, owner);
  }
}
