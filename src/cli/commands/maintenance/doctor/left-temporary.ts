import type { Stats } from "node:fs";

/** A temporary file lives for as long as a file is written: one that nobody has touched for so long was left. */
const leftMs = 60 * 60 * 1000;

export function isLeftTemporary({ mtimeMs }: Pick<Stats, "mtimeMs">, now: number): boolean {
  return now - mtimeMs > leftMs;
}
