import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

interface ReadOptions {
  readonly maxBytes?: number;
  /** A link is followed only where somebody keeps their own files. */
  readonly links?: "refuse" | "follow";
}

/** What a file holds, never waiting for a pipe. Throws when it is something else, or larger. */
export function readRegularFile(path: string, { maxBytes = Infinity, links = "refuse" }: ReadOptions = {}): Buffer {
  // Looked at first: some devices act when they are opened.
  if (links === "follow" && !statSync(path).isFile()) throw new Error(`${path} is no regular file`);
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  const file = openSync(path, links === "refuse" ? flags | constants.O_NOFOLLOW : flags);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`${path} is no regular file`);
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
