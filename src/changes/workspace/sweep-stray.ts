import { lstatSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { isLeftStray, strayKind } from "../../tools/files/stray-name.js";

/** What a process that died left beside a file it was replacing; the last copy of what a file held is not litter. */
export type LeftBehind = "litter" | "last_copy";

/** Undefined when it is not left: whoever put it there still needs it. */
export function leftBehind(path: string, now: number): LeftBehind | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const name = basename(path);
  if (stats === undefined || !isLeftStray(name, stats.ctimeMs, now)) return undefined;
  return strayKind(name) === "old" && stats.isFile() && stats.nlink === 1 ? "last_copy" : "litter";
}

/** Removes it if it is litter. */
export function sweepStray(path: string, now: number): void {
  try {
    if (leftBehind(path, now) === "litter") rmSync(path, { force: true });
  } catch {
    // It does no harm where it is.
  }
}
