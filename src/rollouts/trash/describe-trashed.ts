import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { readHead } from "../list/list.js";
import type { Names } from "../list/names-and-pins.js";
import { readRollout } from "../file/read.js";
import { placesOf, type Trashed } from "./trash-files.js";

/** A conversation in the trash, with its name and title. */
export interface TrashedConversation extends Trashed {
  readonly name?: string;
  readonly title?: string;
}

/** Adds the title and the name from the index, which keeps it until the conversation is removed permanently. */
export async function describeTrashed(entry: Trashed, names: Names): Promise<TrashedConversation> {
  const name = names.get(entry.id)?.name;
  const path = rolloutOf(entry);
  const stats = await lstat(path).catch(() => undefined);
  const title = stats === undefined ? undefined : (await readHead(path, stats.size)).title;
  return { ...entry, ...(name === undefined ? {} : { name }), ...(title === undefined ? {} : { title }) };
}

/** Whether the rollout itself records this name, because the index may be lost or elsewhere. */
export async function recordsName(entry: Trashed, name: string): Promise<boolean> {
  let title: string | undefined;
  try {
    for await (const { line } of readRollout(rolloutOf(entry), entry.id)) {
      if (line.type === "cody" && line.payload.type === "named") title = line.payload.name;
    }
  } catch {
    return false;
  }
  return title === name;
}

function rolloutOf(entry: Trashed): string {
  const [, path] = placesOf(entry, basename(entry.path));
  return path;
}
