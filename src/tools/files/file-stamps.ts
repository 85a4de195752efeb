import type { BigIntStats } from "node:fs";

/** What tells one content of a file from another without reading it. */
export interface FileStamp {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly modifiedNs: bigint;
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

/** How many files are remembered; the ones used longest ago are forgotten first. */
const maxStamps = 1_000;

/** The files a model has seen, by real path: a change by someone else must not be overwritten unseen. */
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

  /** The model was told that the file is gone. */
  forget(path: string): void {
    this.#stamps.delete(path);
  }
}
