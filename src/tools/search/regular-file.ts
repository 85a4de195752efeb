import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

interface ReadOptions {
  readonly maxBytes?: number;
  /** Links are followed only for the user's own files. */
  readonly links?: "refuse" | "follow";
}

/** Reads a file without ever blocking on a pipe. Throws if it is not a regular file, or is too large. */
export function readRegularFile(path: string, { maxBytes = Infinity, links = "refuse" }: ReadOptions = {}): Buffer {
  // Checked before opening, because opening some devices has side effects.
  if (links === "follow" && !statSync(path).isFile()) throw new Error(`${path} is not a regular file`);
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  const file = openSync(path, links === "refuse" ? flags | constants.O_NOFOLLOW : flags);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    if (stats.size > maxBytes) throw new Error(`${path} is larger than ${maxBytes} bytes`);
    const bytes = Buffer.alloc(stats.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
