import type { BigIntStats } from "node:fs";

/** The maximum number of remembered files; the least recently set are forgotten first. */
const maxStamps = 1_000;

/** Detects a changed file without reading it: equal stamps mean that nobody has written to it. */
export type FileStamp = string;

interface StampedFile {
  readonly path: string;
  readonly stamp: FileStamp;
}

/** The files that the model has seen, by real path, so that it does not overwrite a change it has not seen. */
export class FileStamps {
  readonly #stamps: Map<string, FileStamp>;

  constructor(entries: readonly StampedFile[] = []) {
    this.#stamps = new Map(entries.map(({ path, stamp }) => [path, stamp]));
  }

  /** The least recently set first. */
  entries(): StampedFile[] {
    return Array.from(this.#stamps, ([path, stamp]) => ({ path, stamp }));
  }

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
  return `${dev} ${ino} ${size} ${mtimeNs}`;
}
