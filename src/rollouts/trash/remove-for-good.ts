import { dirname, join } from "node:path";
import type { LockOwner } from "../../messages/rollout-command.js";
import { removeEntry, withLock } from "./restore.js";
import { placesOf, readEntry, removingName, type Trashed } from "./trash-entry.js";
import type { TrashFiles } from "./trash-files.js";

/** The result of a permanent removal. */
export interface Removed {
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
export async function finishRemoving(files: TrashFiles, entry: Trashed): Promise<Removed> {
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
