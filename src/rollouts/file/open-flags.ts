import { constants, type Stats } from "node:fs";

/** Neither follows a link nor waits for the other end of a pipe. */
export const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** When a file last changed, in whole milliseconds since 1970. */
export function updatedAt({ mtimeMs }: Pick<Stats, "mtimeMs">): number {
  return Math.floor(mtimeMs);
}
