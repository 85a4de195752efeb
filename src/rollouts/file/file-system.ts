import * as fs from "node:fs";
import { promisify } from "node:util";
import { lstat, lutimes } from "node:fs/promises";

const microsecond = 1_000_000;

/** The system calls used to write a rollout, so that a test can make any of them fail. */
export interface FileSystem {
  open(path: string, flags: number, mode?: number): Promise<number>;
  close(fd: number): Promise<void>;
  fstat(fd: number): Promise<fs.Stats>;
  lstat(path: string): Promise<fs.Stats>;
  fchmod(fd: number, mode: number): Promise<void>;
  /** Returns the number of bytes read; fewer than the buffer holds does not mean the end of the file. */
  read(fd: number, buffer: Uint8Array, position: number): Promise<number>;
  /** Returns the number of bytes written, which may be fewer than requested. */
  write(fd: number, bytes: Uint8Array): Promise<number>;
  ftruncate(fd: number, length: number): Promise<void>;
  fdatasync(fd: number): Promise<void>;
  fsync(fd: number): Promise<void>;
  mkdir(path: string, mode: number): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
}

export const nodeFileSystem: FileSystem = {
  open: promisify(fs.open),
  close: promisify(fs.close),
  fstat: (fd) => promisify(fs.fstat)(fd),
  lstat: (path) => promisify(fs.lstat)(path),
  fchmod: promisify(fs.fchmod),
  read: async (fd, buffer, position) =>
    (await promisify(fs.read)(fd, buffer, 0, buffer.byteLength, position)).bytesRead,
  write: async (fd, bytes) => (await promisify(fs.write)(fd, bytes)).bytesWritten,
  ftruncate: promisify(fs.ftruncate),
  fdatasync: promisify(fs.fdatasync),
  fsync: promisify(fs.fsync),
  mkdir: async (path, mode) => {
    await promisify(fs.mkdir)(path, { mode });
  },
  chmod: promisify(fs.chmod),
};

export async function writeAll(fileSystem: FileSystem, fd: number, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.byteLength) {
    const count = await fileSystem.write(fd, bytes.subarray(written));
    // A disk that writes nothing and reports no error would loop forever.
    if (count === 0) throw Object.assign(new Error("nothing was written"), { code: "EIO" });
    written += count;
  }
}

/** Reads the bytes from `from` to `to`, fewer only where the file ends earlier. */
export async function readRange(fileSystem: FileSystem, fd: number, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(to - from);
  let filled = 0;
  while (filled < buffer.length) {
    const count = await fileSystem.read(fd, buffer.subarray(filled), from + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** Makes changes of a directory durable, such as a new or a removed name. */
export async function syncDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  const fd = await fileSystem.open(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    await fileSystem.fsync(fd);
  } finally {
    await fileSystem.close(fd);
  }
}

/** A file's modification time and size. */
interface FileTime {
  readonly mtimeMs: number;
  readonly size: number;
}

/** Returns undefined where the file does not exist. */
export async function readFileTime(path: string): Promise<FileTime | undefined> {
  return await lstat(path).catch(() => undefined);
}

/** Restores a file's modification time if it has exactly this size; a failure is ignored. */
export async function restoreFileTime(path: string, { mtimeMs }: FileTime, size: number): Promise<void> {
  try {
    const stats = await lstat(path);
    if (stats.size !== size) return;
    // Adds half a microsecond, because a fraction is truncated and could lose a millisecond.
    const seconds = (Math.floor(mtimeMs * 1000) + 0.5) / microsecond;
    await lutimes(path, stats.atimeMs / 1000, seconds);
  } catch {
    // The file then keeps the time of its last write.
  }
}
