import { lstatSync, mkdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { isAbsolute } from "node:path";

/** Node 20 has no compile cache. */
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (directory: string) => unknown };

/**
 * Lets Node keep what it has compiled of cody in `cody` of the folder where this user's programs keep such things, if
 * there is one. Whoever can write there can have us run anything: it must be ours, and nobody else's to change.
 */
export function keepCompiled(env: NodeJS.ProcessEnv): void {
  const { XDG_CACHE_HOME, HOME, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = env;
  if (enableCompileCache === undefined || NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return;
  const caches = XDG_CACHE_HOME || `${HOME}/.cache`;
  const directory = `${caches}/cody`;
  try {
    if (!isAbsolute(caches) || !isOurs(caches)) return;
    mkdirSync(directory, { mode: 0o700, recursive: true });
    if (isOurs(directory)) enableCompileCache(directory);
  } catch {
    // Without it everything works as well, only slower.
  }
}

function isOurs(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}
