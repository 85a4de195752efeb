import { lstatSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { isLeftStray, strayKind } from "../../tools/files/stray-name.js";

/**
 * A file left by a process that died while replacing another file. A "last_copy" is the only copy of a content and
 * must stay.
 */
export type LeftBehind = "litter" | "last_copy";

/** Returns undefined when the file is not a leftover, because the process that created it may still need it. */
export function leftBehind(path: string, now: number): LeftBehind | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const name = basename(path);
  if (stats === undefined || !isLeftStray(name, stats.ctimeMs, now)) return undefined;
  return strayKind(name) === "old" && stats.isFile() && stats.nlink === 1 ? "last_copy" : "litter";
}

/** Removes the file if it is litter. */
export function sweepStray(path: string, now: number): void {
  try {
    if (leftBehind(path, now) === "litter") rmSync(path, { force: true });
  } catch {
    // A leftover file is harmless.
  }
}
