import type { Stats } from "node:fs";

/** Temporary files exist only while a file is written, so one that is older than this was left behind. */
const staleMs = 60 * 60 * 1000;

export function isStaleTemporary({ mtimeMs }: Pick<Stats, "mtimeMs">, now: number): boolean {
  return now - mtimeMs > staleMs;
}
