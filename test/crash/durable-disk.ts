import { fstatSync, lstatSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { IoCall } from "./io-calls.js";

interface DurableFile {
  /** The content after a power failure. */
  disk: Buffer;
  /** The offset from which the page cache is newer than the disk. */
  dirtyFrom: number | undefined;
}

/**
 * Models what a power failure would leave: bytes only after a successful sync, and names only after a successful sync
 * of their directory. A failed sync discards the dirty bytes, as on Linux: the page cache still shows them, and no
 * later sync writes them.
 */
export class DurableDisk {
  readonly #paths = new Map<number, string>();
  readonly #files = new Map<number, DurableFile>();
  /** Names that were created and are not yet durable. */
  readonly #names = new Set<string>();
  writtenBytes = 0;

  /** Makes a call and tracks its effect on the durable state. */
  async perform({ name, args, perform }: IoCall, given: readonly unknown[] = args): Promise<unknown> {
    const [target] = given;
    const before = typeof target === "number" && (name === "write" || name === "ftruncate") ? size(target) : 0;
    const isNew = name === "mkdir" || (name === "open" && !exists(String(target)));
    // A real sync would take most of the time and prove nothing.
    if (name === "fdatasync" || name === "fsync") return this.synced(target as number);
    const result = await perform(given);
    if (name === "open") this.#paths.set(result as number, String(target));
    if (isNew) this.#made(String(target));
    if (name === "write") {
      this.writtenBytes += result as number;
      this.#dirty(target as number, before);
    }
    if (name === "ftruncate") this.#dirty(target as number, Math.min(before, given[1] as number));
    return result;
  }

  /** Records a successful sync. */
  synced(fd: number): void {
    const path = this.#paths.get(fd) ?? "";
    for (const made of this.#names) if (dirname(made) === path && fstatSync(fd).isDirectory()) this.#names.delete(made);
    this.#write(fd, (cache, from) => cache.subarray(from));
  }

  /** Records a failed sync. */
  lost(fd: number): void {
    this.#write(fd, (cache, from) => Buffer.alloc(Math.max(0, cache.length - from)));
  }

  /** The content of this path after a power failure. */
  contentOf(path: string): Buffer | undefined {
    for (let name = path; name !== dirname(name); name = dirname(name)) if (this.#names.has(name)) return undefined;
    return this.#files.get(lstatSync(path).ino)?.disk;
  }

  #made(path: string): void {
    this.#names.add(path);
    // The inode number of a removed file may be used again.
    this.#files.delete(lstatSync(path).ino);
  }

  #dirty(fd: number, from: number): void {
    const file = this.#fileOf(fd, from);
    file.dirtyFrom = Math.min(file.dirtyFrom ?? from, from);
  }

  #write(fd: number, bytesOf: (cache: Buffer, from: number) => Buffer): void {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return;
    const file = this.#fileOf(fd, stats.size);
    const { dirtyFrom } = file;
    if (dirtyFrom === undefined) return;
    file.disk = Buffer.concat([file.disk.subarray(0, dirtyFrom), bytesOf(this.#cacheOf(fd), dirtyFrom)]);
    file.dirtyFrom = undefined;
  }

  /** Bytes that were in a file before tracking started are durable. */
  #fileOf(fd: number, known: number): DurableFile {
    const { ino } = fstatSync(fd);
    const file = this.#files.get(ino) ?? { disk: this.#cacheOf(fd).subarray(0, known), dirtyFrom: undefined };
    this.#files.set(ino, file);
    return file;
  }

  /** Read by path, because the descriptor may be write-only. */
  #cacheOf(fd: number): Buffer {
    return readFileSync(this.#paths.get(fd) ?? "");
  }
}

function size(fd: number): number {
  return fstatSync(fd).size;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
