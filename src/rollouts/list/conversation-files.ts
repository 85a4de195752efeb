import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import { companionPath } from "../layout.js";

const maxChars = 60;

/** Matches the lock, its takeover marks and their temporary files, which exist only while a process writes. */
const lock = /^lock(?:\.|$)/;

/** A file that belongs to a conversation. */
interface ConversationFile {
  /** Relative to the rollout's folder; contains a slash for a file in a folder beside the rollout. */
  readonly name: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

/** Explains why a conversation cannot be deleted. */
export class NotDeletableError extends Error {
  override readonly name = "NotDeletableError";
}

/**
 * Lists all files of a conversation, its rollout first: torn lines, backups, blobs, and everything else that begins
 * with its name, except its lock. Throws if one of them is not a regular file.
 */
export async function conversationFiles(rolloutPath: string): Promise<ConversationFile[]> {
  const folder = dirname(rolloutPath);
  const companions = (await readdir(folder)).filter((name) => isCompanion(rolloutPath, name)).toSorted();
  const found = [await regularFile(folder, basename(rolloutPath))];
  for (const name of companions) {
    const stats = await lstat(join(folder, name));
    if (!stats.isDirectory()) found.push(await regularFile(folder, name));
    else
      for (const inner of await namesIn(join(folder, name))) found.push(await regularFile(folder, `${name}/${inner}`));
  }
  return found;
}

function isCompanion(rolloutPath: string, name: string): boolean {
  // Blobs keep the full name of the rollout even where other files must not.
  const starts = [`${basename(rolloutPath)}.`, basename(companionPath(rolloutPath, ""))];
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

/** The id, name and title by which users recognize a conversation. */
export interface ConversationLabel {
  readonly id: string;
  readonly name?: string;
  /** First line of the user's first message. */
  readonly title?: string;
}

/** Formats an id with the name or else the title, on one line and without terminal control characters. */
export function labelText({ id, name, title }: ConversationLabel): string {
  const called = name ?? title;
  return called === undefined ? id : `${id} (${visible(shortened(called, maxChars))})`;
}
