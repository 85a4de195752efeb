import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isConversationId } from "../../base/text/conversation-id.js";
import { TrashEntry } from "../../messages/cleanup.js";
import type { TrashFiles } from "./trash-files.js";

/** A conversation in the trash, with its folder. */
export interface Trashed extends TrashEntry {
  readonly folder: string;
}

/** Name of the file that describes a trash folder. */
export const entryName = "entry.json";
/** Name of the mark in a folder that is being removed permanently. */
export const removingName = "removing";
const maxEntryBytes = 16 * 1024 * 1024;

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
