import type { FileHandle } from "node:fs/promises";
import { FileProblem } from "./file-problem.js";
import { readAt } from "../../base/fs/open-regular.js";

const lineFeed = 0x0a;
const chunkBytes = 256 * 1024;

/**
 * The offset of a line; the first is 1. Rejects if the file has fewer lines. Reads at most `size` bytes, even if the
 * file grows.
 */
export async function findLine(file: FileHandle, line: number, size: number, signal: AbortSignal): Promise<number> {
  let current = 1;
  let position = 0;
  let lineStart = 0;
  while (current < line && position < size) {
    if (signal.aborted) throw new FileProblem("interrupted");
    const chunk = await readAt(file, position, Math.min(chunkBytes, size - position));
    if (chunk.length === 0) break;
    for (let at = chunk.indexOf(lineFeed); at !== -1 && current < line; at = chunk.indexOf(lineFeed, at + 1)) {
      current += 1;
      lineStart = position + at + 1;
    }
    position += chunk.length;
  }
  if (current === line && (lineStart < size || line === 1)) return lineStart;
  const lines = lineStart < Math.min(position, size) ? current : current - 1;
  throw new FileProblem(`it has ${lines} ${lines === 1 ? "line" : "lines"}, so line ${line} is past its end`);
}
