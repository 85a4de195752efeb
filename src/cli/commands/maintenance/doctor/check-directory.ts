import type { Stats } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { saveFailureReason } from "../../../../actors/rollout-writer/reason.js";
import { checkRights, type Ownership } from "./check-rights.js";
import type { StoreFinding } from "./finding.js";

/** Whether conversations can be put into a directory, or the directory be made where there is none yet. */
export async function checkDirectory(path: string, uid: number, ownership: Ownership): Promise<StoreFinding[]> {
  const place = await nearest(path);
  // What cannot be reached is told by who tries to read it.
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

/** The path itself, or what is there of the folders it is to lie in. */
async function nearest(path: string): Promise<{ path: string; stats: Stats } | undefined> {
  try {
    return { path, stats: await stat(path) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? await nearest(dirname(path)) : undefined;
  }
}
