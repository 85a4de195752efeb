import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { TrashEntry, TrashReason } from "../../messages/cleanup.js";
import type { LockOwner } from "../../messages/actors/rollout-writer.js";
import { conversationFiles, NotDeletableError } from "../list/conversation-files.js";
import { moveFile } from "./move-file.js";
import { putBack, withLock } from "./restore.js";
import { entryName, placesOf, type Trashed, type TrashFiles } from "./trash-files.js";

interface TrashRequest {
  readonly id: string;
  /** Path of the rollout. */
  readonly path: string;
  /** The directory of conversations; files outside of it are not moved. */
  readonly directory: string;
  readonly trash: string;
  readonly now: Date;
  /** How long the conversation stays in the trash by default. */
  readonly graceMs: number;
  readonly why: TrashReason;
  /** Lock owner for the deletion; must differ from the owner of conversations open in this process. */
  readonly owner: LockOwner;
  /** Called once the conversation is locked; returns a reason to keep it. */
  readonly keepIf?: () => Promise<string | undefined>;
}

/**
 * Moves all files of a conversation into a folder of the trash, which first records the files to move. The rollout
 * moves first: until then the conversation still exists, and afterwards the remaining files only follow it.
 */
export async function moveToTrash(files: TrashFiles, request: TrashRequest): Promise<Trashed> {
  const { id, path, owner, trash } = request;
  await refuseOutside(request);
  const folder = join(trash, `${id}.${randomBytes(6).toString("hex")}`);
  return await withLock(path, id, owner, async () => {
    const reason = await request.keepIf?.();
    if (reason !== undefined) throw new NotDeletableError(reason);
    const entry = await newEntry(request);
    await files.makeFolder(trash);
    // The folder gets its own lock, so that `finishInterrupted` does not treat it as left by a crash.
    return await withLock(folder, id, owner, () => fill(files, { ...entry, folder }));
  });
}

/** Moves all files or none. */
async function fill(files: TrashFiles, entry: Trashed): Promise<Trashed> {
  const { folder, files: moving } = entry;
  await files.makeFolder(folder);
  const { folder: _, ...fields } = entry;
  await files.writeNew(join(folder, entryName), `${JSON.stringify(fields)}\n`);
  await files.sync(folder);
  await files.sync(dirname(folder));
  try {
    for (const { name } of moving) {
      const [from, to] = placesOf(entry, name);
      if (dirname(to) !== folder) await files.makeFolder(dirname(to));
      await moveFile(files, from, to);
    }
    await removeEmptyFolders(files, entry);
    await files.sync(dirname(entry.path));
  } catch (error) {
    // If this fails too, the next `finishInterrupted` fixes it.
    await putBack(files, entry).catch(() => undefined);
    throw error;
  }
  return entry;
}

async function newEntry({ id, path, now, graceMs, why }: TrashRequest): Promise<TrashEntry> {
  const found = await conversationFiles(path);
  return {
    version: 1,
    id,
    path,
    trashedAt: now.toISOString(),
    until: new Date(now.getTime() + graceMs).toISOString(),
    why,
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    files: found,
  };
}

/** Removes the folders beside the rollout that are empty after the move. */
export async function removeEmptyFolders(files: TrashFiles, { path, files: moved }: Trashed): Promise<void> {
  const folders = new Set(moved.flatMap(({ name }) => (name.includes("/") ? [dirname(name)] : [])));
  for (const name of folders) {
    const folder = join(dirname(path), name);
    if ((await files.stats(folder)) !== undefined) await files.removeFolder(folder);
  }
}

/** Rejects paths outside of the directory, because a link on the way could lead anywhere. */
async function refuseOutside({ path, directory }: TrashRequest): Promise<void> {
  const way = relative(directory, dirname(path));
  const isInside = !way.startsWith("..") && !way.startsWith(sep);
  if (!isInside || (await realpath(dirname(path))) !== join(await realpath(directory), way)) {
    throw new NotDeletableError("its file is not in the conversations directory");
  }
}
