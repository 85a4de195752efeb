import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { besideRollout } from "../layout.js";

/** A file that belongs to a conversation. */
export interface ConversationFile {
  /** Relative to the folder the rollout lies in; with a slash for what lies in a folder beside the rollout. */
  readonly name: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

/** Why a conversation stays where it is. */
export class NotDeletableError extends Error {
  override readonly name = "NotDeletableError";
}

/** Only for as long as somebody writes: the lock itself, marks of who took it over, and what becomes one of them. */
const lock = /^lock(?:\.|$)/;

/**
 * Everything on disk that belongs to one conversation, its rollout first: torn lines, backups, blobs, and whatever else
 * begins with its name; not its lock. Nothing of it is a link.
 */
export async function conversationFiles(rolloutPath: string): Promise<ConversationFile[]> {
  const folder = dirname(rolloutPath);
  const beside = (await readdir(folder)).filter((name) => isBeside(rolloutPath, name)).toSorted();
  const found = [await regularFile(folder, basename(rolloutPath))];
  for (const name of beside) {
    const stats = await lstat(join(folder, name));
    if (!stats.isDirectory()) found.push(await regularFile(folder, name));
    else
      for (const inner of await namesIn(join(folder, name))) found.push(await regularFile(folder, `${name}/${inner}`));
  }
  return found;
}

function isBeside(rolloutPath: string, name: string): boolean {
  // Blobs keep the whole name of the rollout, also where other names must not.
  const starts = [`${basename(rolloutPath)}.`, basename(besideRollout(rolloutPath, ""))];
  const start = starts.find((candidate) => name.startsWith(candidate));
  return start !== undefined && !lock.test(name.slice(start.length));
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).toSorted();
}

async function regularFile(folder: string, name: string): Promise<ConversationFile> {
  const stats = await lstat(join(folder, name));
  if (!stats.isFile()) throw new NotDeletableError(`${name} is not a regular file`);
  return { name, bytes: stats.size, mtimeMs: stats.mtimeMs };
}
