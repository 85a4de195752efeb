import { rm } from "node:fs/promises";
import { homePaths } from "../../config/paths.js";
import { forgetIndexed } from "../../rollouts/index/with-index.js";

/**
 * Deletes cached data of conversations: in the index, and in the caches of lists. Returns whether all of it is gone.
 */
export async function deleteCachedCopies(home: string, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const { heads, codexHeads, registeredHeads, index } = homePaths(home);
  try {
    for (const cache of [heads, codexHeads, registeredHeads]) await rm(cache, { force: true });
    return await forgetIndexed(index, ids);
  } catch {
    return false;
  }
}
