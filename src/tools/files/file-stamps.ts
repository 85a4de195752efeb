import type { BigIntStats } from "node:fs";

/** The maximum number of remembered files; the least recently set are forgotten first. */
const maxStamps = 1_000;

/** Detects a changed file without reading it. */
export interface FileStamp {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly modifiedNs: bigint;
}

/** The files that the model has seen, by real path, so that it does not overwrite a change it has not seen. */
export class FileStamps {
  readonly #stamps = new Map<string, FileStamp>();

  get(path: string): FileStamp | undefined {
    return this.#stamps.get(path);
  }

  set(path: string, stamp: FileStamp): void {
    this.#stamps.delete(path);
    this.#stamps.set(path, stamp);
    const [oldest] = this.#stamps.keys();
    if (this.#stamps.size > maxStamps && oldest !== undefined) this.#stamps.delete(oldest);
  }

  /** Call it once the model knows that the file is gone. */
  forget(path: string): void {
    this.#stamps.delete(path);
  }
}

export function stampOf({ dev, ino, size, mtimeNs }: BigIntStats): FileStamp {
  return { device: dev, inode: ino, size, modifiedNs: mtimeNs };
}

export function isSameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.device === other.device &&
    one.inode === other.inode &&
    one.size === other.size &&
    one.modifiedNs === other.modifiedNs
  );
}
