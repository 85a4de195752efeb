import type { Stats } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { saveFailureReason } from "../../../../actors/rollout-writer/reason.js";
import { checkRights, type Ownership } from "./check-rights.js";
import type { StoreFinding } from "./finding.js";

/** Checks that conversations can be stored in the directory, or that it can be created. */
export async function checkDirectory(path: string, uid: number, ownership: Ownership): Promise<StoreFinding[]> {
  const place = await nearest(path);
  // An unreachable path is reported by the check that reads it.
  if (place === undefined) return [];
  if (!place.stats.isDirectory()) return [{ kind: "not_a_directory", path }];
  const rights = place.path === path ? checkRights({ path, stats: place.stats, uid, ownership }) : [];
  try {
    await access(place.path, constants.W_OK | constants.X_OK);
    return rights;
  } catch (error) {
    return [...rights, { kind: "unwritable", path, reason: saveFailureReason(error) }];
  }
}

/** The path itself, or its nearest existing parent. */
async function nearest(path: string): Promise<{ path: string; stats: Stats } | undefined> {
  try {
    return { path, stats: await stat(path) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? await nearest(dirname(path)) : undefined;
  }
}
