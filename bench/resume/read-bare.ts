import { closeSync, openSync, readSync } from "node:fs";

const chunkBytes = 64 * 1024;
const newline = 0x0a;

/** Reads a file, parses every line with JSON.parse, and returns the number of lines. */
export function readBare(path: string): number {
  const fd = openSync(path, "r");
  let lines = 0;
  let rest = Buffer.of();
  for (;;) {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    const read = readSync(fd, buffer);
    if (read === 0) break;
    const bytes = Buffer.concat([rest, buffer.subarray(0, read)]);
    let from = 0;
    for (let to = bytes.indexOf(newline); to !== -1; to = bytes.indexOf(newline, from)) {
      JSON.parse(bytes.toString("utf8", from, to));
      lines += 1;
      from = to + 1;
    }
    rest = bytes.subarray(from);
  }
  closeSync(fd);
  return lines;
}
