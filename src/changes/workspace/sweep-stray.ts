import { lstatSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { isStaleTemporary, temporaryKind } from "../../tools/files/stray-name.js";

/**
 * A file left by a process that died while replacing another file. A "last_copy" is the only copy of a content and
 * must stay.
 */
export type Leftover = "litter" | "last_copy";

/** Returns undefined when the file is not a leftover, because the process that created it may still need it. */
export function leftoverKind(path: string, now: number): Leftover | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const name = basename(path);
  if (stats === undefined || !isStaleTemporary(name, stats.ctimeMs, now)) return undefined;
  return temporaryKind(name) === "old" && stats.isFile() && stats.nlink === 1 ? "last_copy" : "litter";
}

/** Removes the file if it is litter. */
export function removeLitter(path: string, now: number): void {
  try {
    if (leftoverKind(path, now) === "litter") rmSync(path, { force: true });
  } catch {
    // A leftover file is harmless.
  }
}
