import { dirname, join } from "node:path";
import type { LockOwner } from "../../messages/rollout-command.js";
import { forgetEntry, locked } from "./restore.js";
import { placesOf, readEntry, removingName, type Trashed } from "./trash-entry.js";
import type { TrashFiles } from "./trash-files.js";

/** What is gone from the disk. */
export interface Removed {
  readonly bytes: number;
  /** The files that have another hard link: their bytes were not overwritten and are still there. */
  readonly hardLinked: readonly string[];
}

/**
 * Takes a conversation out of the trash for ever: its bytes are written over before its names go. What a disk, its
 * journal or a backup still has of them is not ours to say.
 */
export async function removeForGood(files: TrashFiles, { folder, id }: Trashed, owner: LockOwner): Promise<Removed> {
  return await locked(folder, id, owner, async () => {
    const entry = await readEntry(files, folder);
    return entry === undefined ? { bytes: 0, hardLinked: [] } : await finishRemoving(files, entry);
  });
}

/** From the mark on nothing brings it back, whoever dies in between. */
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
    // Somebody who has given it another name keeps it.
    if (stats.nlink > 1) hardLinked.push(name);
    else if (stats.isFile()) {
      await files.blank(path);
      bytes += stats.size;
    }
    await files.remove(path);
    await files.sync(dirname(path));
  }
  await forgetEntry(files, entry);
  return { bytes, hardLinked };
}
