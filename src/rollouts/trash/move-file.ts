import { createHash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../base/system-error.js";
import type { TrashFiles } from "./trash-files.js";

/** Suffix of a copy that is not complete yet. */
export const partialEnding = ".partial";

/**
 * Renames a file to a free name. The old name is removed only when the new one is durable, so a crash leaves one or
 * both of them, and nothing is ever overwritten.
 */
export async function moveFile(files: TrashFiles, from: string, to: string): Promise<void> {
  try {
    await files.link(from, to);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    await copyFile(files, from, to);
  }
  await files.sync(dirname(to));
  await files.remove(from);
}

/** Copies a file to another file system. */
async function copyFile(files: TrashFiles, from: string, to: string): Promise<void> {
  const partial = `${to}${partialEnding}`;
  if ((await files.stats(partial)) !== undefined) await files.remove(partial);
  await files.copy(from, partial);
  if (!(await haveSameBytes(from, partial))) throw new Error(`the copy of ${from} differs from the original`);
  await files.link(partial, to);
  await files.remove(partial);
}

/** Whether two paths have the same content: one file, or a file and its copy. */
export async function isSameFile(files: TrashFiles, a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([files.stats(a), files.stats(b)]);
  if (first === undefined || second === undefined) return false;
  return isSameInode(first, second) || (await haveSameBytes(a, b));
}

function isSameInode(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

async function haveSameBytes(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([digest(a), digest(b)]);
  return first === second;
}

async function digest(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
