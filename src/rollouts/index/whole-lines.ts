import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { maxLineBytes } from "../file/line-object.js";
import { openFlags } from "../file/open-flags.js";

/** A line with its newline behind it, and where in the file it begins. */
export interface WholeLine {
  readonly offset: number;
  readonly bytes: Buffer;
}

const chunkBytes = 256 * 1024;
const newline = 0x0a;

/** A rollout that is open; only for a command that does nothing else. */
export class OpenRollout {
  readonly #fd: number;
  readonly inode: number;
  readonly size: number;

  constructor(path: string) {
    this.#fd = openSync(path, openFlags);
    const stats = fstatSync(this.#fd);
    this.inode = stats.ino;
    this.size = stats.isFile() ? stats.size : 0;
  }

  /** The lines from the beginning of one of them on. One without a newline is not finished, and none of them. */
  *lines(from: number): Generator<WholeLine> {
    let offset = from;
    let rest: Buffer = Buffer.of();
    for (;;) {
      const chunk = this.bytes(offset + rest.length, chunkBytes);
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      // What is longer is damage, and nobody knows what stands behind it.
      if (chunk.length === 0 || bytes.length > maxLineBytes) return;
      let begin = 0;
      for (let end = bytes.indexOf(newline, rest.length); end !== -1; end = bytes.indexOf(newline, begin)) {
        yield { offset: offset + begin, bytes: bytes.subarray(begin, end) };
        begin = end + 1;
      }
      offset += begin;
      rest = bytes.subarray(begin);
    }
  }

  bytes(from: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.size - from));
    const buffer = Buffer.allocUnsafe(wanted);
    return buffer.subarray(0, readSync(this.#fd, buffer, 0, wanted, from));
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}
