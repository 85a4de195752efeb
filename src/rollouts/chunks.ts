import type { FileHandle } from "node:fs/promises";

export interface Chunk {
  /** Where in the file it begins. */
  readonly offset: number;
  readonly bytes: Buffer;
}

const chunkBytes = 256 * 1024;

/** The bytes of a file from one place to another, or to its end, in pieces; the next is read while one is worked on. */
export async function* chunks(file: FileHandle, from: number, to: number): AsyncGenerator<Chunk> {
  let offset = from;
  let reading = read(file, offset, to);
  for (;;) {
    const bytes = await reading;
    if (bytes.length === 0) return;
    reading = read(file, offset + bytes.length, to);
    // Whoever asks for it hears of a failure, and who does not ask need not.
    reading.catch(() => undefined);
    yield { offset, bytes };
    offset += bytes.length;
  }
}

async function read(file: FileHandle, offset: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(chunkBytes, to - offset)));
  if (buffer.length === 0) return buffer;
  const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
  return buffer.subarray(0, bytesRead);
}
