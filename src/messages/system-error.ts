import { constants } from "node:os";

/** Node has no name for it, though the system has. */
const unnamed: ReadonlyMap<number, string> = new Map([[-constants.errno.EDQUOT, "EDQUOT"]]);

/** The name of what the system said, like `ENOSPC`; none for errors that are not the system's. */
export function systemCode(error: unknown): string | undefined {
  const { code, errno } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return unnamed.get(errno ?? 0) ?? code;
}
