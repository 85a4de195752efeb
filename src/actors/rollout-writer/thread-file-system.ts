import { lstatSync, writeSync } from "node:fs";
import { type FileSystem, nodeFileSystem } from "../../rollouts/file/file-system.js";

/**
 * For a thread of its own: what only reaches the cache is done at once, since handing it to Node's pool and back costs
 * more than doing it. What waits for the disk goes through the pool, where others can go on beside it.
 */
export const threadFileSystem: FileSystem = {
  ...nodeFileSystem,
  write: async (fd, bytes) => writeSync(fd, bytes),
  lstat: async (path) => lstatSync(path),
};
