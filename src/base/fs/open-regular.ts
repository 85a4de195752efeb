import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { systemCode } from "../system-error.js";

interface RegularFileOptions {
  /** Whether the last part of the path may be a symbolic link. Follow links only in paths that the user controls. */
  readonly links: "refuse" | "follow";
}

const neverWait = constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens for reading, without following a link and without waiting for the other end of a pipe. */
export const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | neverWait;
/** Opens for reading and appending, creates a missing file, and neither follows a link nor waits. */
export const appendFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | neverWait;

/** Creates a file for writing; fails if the name is taken, even by a link. */
export const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

interface NotRegularFacts {
  readonly stats?: Stats;
  readonly code?: string;
  readonly cause?: unknown;
}

/**
 * The path leads to a folder, link, pipe, socket or device. `stats` describes it, unless the system refused to open
 * it: then `code` says why, `ELOOP` for a link and `ENXIO` for a socket.
 */
export class NotRegularError extends Error {
  override readonly name = "NotRegularError";
  readonly stats: Stats | undefined;
  readonly code: string | undefined;

  constructor(path: string, { stats, code, cause }: NotRegularFacts) {
    super(`${path} is not a regular file`, { cause });
    this.stats = stats;
    this.code = code;
  }
}

export class TooLargeError extends Error {
  override readonly name = "TooLargeError";

  constructor(path: string, maxBytes: number) {
    super(`${path} is larger than ${maxBytes} bytes`);
  }
}

/** An open regular file, with its state before anything was read. */
interface RegularFile extends AsyncDisposable {
  readonly file: FileHandle;
  readonly stats: Stats;
}

/** Opens a regular file for reading, or rejects with `NotRegularError`. Never waits for a pipe or a device. */
export async function openRegular(path: string, { links }: RegularFileOptions): Promise<RegularFile> {
  // Checked before opening, because opening some devices has side effects.
  if (links === "follow") requireRegular(path, await stat(path));
  const file = await open(path, flagsFor(links)).catch((error: unknown) => {
    throw openError(path, error);
  });
  try {
    const stats = requireRegular(path, await file.stat());
    return { file, stats, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface ReadOptions extends RegularFileOptions {
  readonly maxBytes?: number;
}

/**
 * Reads a regular file of at most `maxBytes`. Rejects with `NotRegularError` or `TooLargeError`. Bytes that are
 * appended meanwhile are not read, so the bound holds for growing files too.
 */
export async function readRegular(path: string, { maxBytes = Infinity, links }: ReadOptions): Promise<Buffer> {
  await using regular = await openRegular(path, { links });
  if (regular.stats.size > maxBytes) throw new TooLargeError(path, maxBytes);
  return await readAt(regular.file, 0, regular.stats.size);
}

/** Synchronous variant of `readRegular`. */
export function readRegularSync(path: string, { maxBytes = Infinity, links }: ReadOptions): Buffer {
  if (links === "follow") requireRegular(path, statSync(path));
  const fd = openedSync(path, flagsFor(links));
  try {
    const { size } = requireRegular(path, fstatSync(fd));
    if (size > maxBytes) throw new TooLargeError(path, maxBytes);
    return readAtSync(fd, 0, size);
  } finally {
    closeSync(fd);
  }
}

function openedSync(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw openError(path, error);
  }
}

/** Resolves the opened file where the system supports it, because the path may lead elsewhere by now. */
export async function realPathOf(file: FileHandle, path: string): Promise<string> {
  return await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path));
}

/** Reads `length` bytes from a position, or up to the end of the file. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Synchronous variant of `readAt`, for a descriptor. */
function readAtSync(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const bytesRead = readSync(fd, buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function flagsFor(links: RegularFileOptions["links"]): number {
  return links === "follow" ? readFlags & ~constants.O_NOFOLLOW : readFlags;
}

function requireRegular(path: string, stats: Stats): Stats {
  if (!stats.isFile()) throw new NotRegularError(path, { stats });
  return stats;
}

function openError(path: string, error: unknown): unknown {
  const code = systemCode(error);
  return code === "ELOOP" || code === "ENXIO" ? new NotRegularError(path, { code, cause: error }) : error;
}
