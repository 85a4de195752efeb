import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** What a file holds; never through a link, and never waiting for a pipe. Throws when it is something else, or larger. */
export function readRegularFile(path: string, maxBytes = Infinity): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
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
