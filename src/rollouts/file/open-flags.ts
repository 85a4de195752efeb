import { constants, type Stats } from "node:fs";

/** Opens for reading without following links and without waiting for the other end of a pipe. */
export const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Time of the last modification in whole milliseconds since 1970. */
export function updatedAt({ mtimeMs }: Pick<Stats, "mtimeMs">): number {
  return Math.floor(mtimeMs);
}
