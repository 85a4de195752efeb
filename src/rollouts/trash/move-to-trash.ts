import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { TrashEntry, TrashReason } from "../../messages/cleanup.js";
import type { LockOwner } from "../../messages/rollout-command.js";
import { conversationFiles, NotDeletableError } from "../list/conversation-files.js";
import { moveFile } from "./move-file.js";
import { putBack, locked } from "./restore.js";
import { entryName, placesOf, type Trashed } from "./trash-entry.js";
import type { TrashFiles } from "./trash-files.js";

export interface TrashRequest {
  readonly id: string;
  /** Its rollout. */
  readonly path: string;
  /** Where conversations are kept: nothing outside of it is moved. */
  readonly directory: string;
  readonly trash: string;
  readonly now: Date;
  /** For how long it stays there unless somebody asks for less. */
  readonly graceMs: number;
  readonly why: TrashReason;
  /** Whoever deletes, as locks name them: not the owner of conversations that are open in this process. */
  readonly owner: LockOwner;
  /** Looked at when nobody can write it any more; says why it must stay. */
  readonly keepIf?: () => Promise<string | undefined>;
}

/**
 * Moves all files of a conversation into a folder of the trash, which says first what it is going to hold. The rollout
 * goes first: while it is where it was, the conversation is there, and afterwards what is left behind only follows it.
 */
export async function moveToTrash(files: TrashFiles, request: TrashRequest): Promise<Trashed> {
  const { id, path, owner, trash } = request;
  await refuseOutside(request);
  const folder = join(trash, `${id}.${randomBytes(6).toString("hex")}`);
  return await locked(path, id, owner, async () => {
    const reason = await request.keepIf?.();
    if (reason !== undefined) throw new NotDeletableError(reason);
    const entry = await newEntry(request);
    await files.makeFolder(trash);
    // Its own lock, so that nobody takes it for what a crash has left.
    return await locked(folder, id, owner, () => fill(files, { ...entry, folder }));
  });
}

/** All of it, or nothing. */
async function fill(files: TrashFiles, entry: Trashed): Promise<Trashed> {
  const { folder, files: moving } = entry;
  await files.makeFolder(folder);
  const { folder: _, ...said } = entry;
  await files.writeNew(join(folder, entryName), `${JSON.stringify(said)}\n`);
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
    // What cannot be put back now is settled by who comes next.
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

/** What stood beside the rollout in a folder of its own leaves that behind. */
export async function removeEmptyFolders(files: TrashFiles, { path, files: moved }: Trashed): Promise<void> {
  const folders = new Set(moved.flatMap(({ name }) => (name.includes("/") ? [dirname(name)] : [])));
  for (const name of folders) {
    const folder = join(dirname(path), name);
    if ((await files.stats(folder)) !== undefined) await files.removeFolder(folder);
  }
}

/** A link on the way could lead anywhere. */
async function refuseOutside({ path, directory }: TrashRequest): Promise<void> {
  const way = relative(directory, dirname(path));
  const isInside = !way.startsWith("..") && !way.startsWith(sep);
  if (!isInside || (await realpath(dirname(path))) !== join(await realpath(directory), way)) {
    throw new NotDeletableError("its file is not in the directory of conversations");
  }
}
