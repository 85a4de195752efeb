import { dirname, join } from "node:path";
import type { LockOwner } from "../../messages/rollout-command.js";
import { locked } from "./move-to-trash.js";
import { forgetEntry } from "./restore.js";
import { placesOf, readEntry, removingName, type Trashed } from "./trash-entry.js";
import type { TrashFiles } from "./trash-files.js";

/**
 * Takes a conversation out of the trash for ever: its bytes are written over before its names go. What a disk, its
 * journal or a backup still has of them is not ours to say.
 */
export async function removeForGood(files: TrashFiles, { folder, id }: Trashed, owner: LockOwner): Promise<void> {
  await locked(folder, id, owner, async () => {
    const entry = await readEntry(files, folder);
    if (entry !== undefined) await finishRemoving(files, entry);
  });
}

/** From the mark on nothing brings it back, whoever dies in between. */
export async function finishRemoving(files: TrashFiles, entry: Trashed): Promise<void> {
  const mark = join(entry.folder, removingName);
  if ((await files.stats(mark)) === undefined) await files.writeNew(mark, "");
  await files.sync(entry.folder);
  for (const { name } of entry.files) {
    const [, path] = placesOf(entry, name);
    const stats = await files.stats(path);
    if (stats === undefined) continue;
    // Somebody who has given it another name keeps it.
    if (stats.isFile() && stats.nlink === 1) await files.blank(path);
    await files.remove(path);
    await files.sync(dirname(path));
  }
  await forgetEntry(files, entry);
}
