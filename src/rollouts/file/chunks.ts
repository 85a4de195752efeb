import type { FileHandle } from "node:fs/promises";

export interface Chunk {
  /** Where in the file it begins. */
  readonly offset: number;
  readonly bytes: Buffer;
}

export interface ChunkOptions {
  readonly from: number;
  /** Where it ends, or beyond the end of the file. */
  readonly to: number;
}

const chunkBytes = 256 * 1024;

/** The bytes of a file in pieces; the next is read while one is worked on. */
export async function* chunks(file: FileHandle, { from, to }: ChunkOptions): AsyncGenerator<Chunk> {
  let offset = from;
  let reading = read(file, offset, Math.min(chunkBytes, to - offset));
  for (;;) {
    const bytes = await reading;
    if (bytes.length === 0) return;
    reading = read(file, offset + bytes.length, Math.min(chunkBytes, to - offset - bytes.length));
    // Whoever asks for it hears of a failure, and who does not ask need not.
    reading.catch(() => undefined);
    yield { offset, bytes };
    offset += bytes.length;
  }
}

async function read(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  if (length <= 0) return Buffer.of();
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
