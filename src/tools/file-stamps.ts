/** What tells one content of a file from another without reading it. */
export interface FileStamp {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly modifiedNs: bigint;
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
}
