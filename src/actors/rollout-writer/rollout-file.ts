import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { OpenOutcome, RolloutWriterOp } from "../../messages/actors/rollout-writer.js";
import { readRange, writeAll, type FileSystem } from "../../rollouts/file/file-system.js";
import { releaseLock, acquireLock, type LockTemplates } from "../../rollouts/file/lock.js";
import { repairTail } from "../../rollouts/file/torn-tail.js";
import type { DirectorySyncs } from "./durable-directory.js";
import { RolloutFileError } from "./save-failure.js";

export type OpenCommand = Extract<RolloutWriterOp, { type: "open" }>;

/** The resources that all rollouts of a writer share. */
export interface Disk {
  readonly fileSystem: FileSystem;
  readonly descriptors: Descriptors;
  readonly directories: DirectorySyncs;
  readonly lockTemplates: LockTemplates;
}

interface Saved {
  readonly lines: number;
  readonly bytes: number;
}

/**
 * One rollout and the lines waiting to be written to it. Every call may fail and be repeated: the file is known to be
 * durable up to `#savedBytes`, and the bytes after that are compared with the waiting lines before anything is added.
 * Only one call may run at a time.
 */
export class RolloutFile implements Holder {
  readonly #fileSystem: FileSystem;
  readonly #descriptors: Descriptors;
  readonly #directories: DirectorySyncs;
  readonly #lockTemplates: LockTemplates;
  readonly #command: OpenCommand;
  #lines: string[] = [];
  /** The number of waiting lines that are in the file but not yet durable, and their bytes. */
  #written = { lines: 0, bytes: 0 };
  #fd: number | undefined;
  #identity: Pick<Stats, "dev" | "ino"> | undefined;
  #savedBytes = 0;
  #opened = false;
  #created = false;
  /**
   * The step needed before appending: none, comparing the bytes after the saved ones, or rewriting them. After a failed
   * sync the cache may show bytes that are not on the disk and never will be.
   */
  #nextCheck: "append" | "compare" | "rewrite" = "append";

  constructor(disk: Disk, command: OpenCommand) {
    this.#fileSystem = disk.fileSystem;
    this.#descriptors = disk.descriptors;
    this.#directories = disk.directories;
    this.#lockTemplates = disk.lockTemplates;
    this.#command = command;
  }

  get opened(): boolean {
    return this.#opened;
  }

  get savedBytes(): number {
    return this.#savedBytes;
  }

  /** Number of lines that are not durable. */
  get waitingLines(): number {
    return this.#lines.length;
  }

  /** Number of lines that are not in the file. */
  get unwrittenLines(): number {
    return this.#lines.length - this.#written.lines;
  }

  add(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
  }

  /** Takes the lock and opens the file; it counts as open only after `settle`. */
  async open(): Promise<Exclude<OpenOutcome, { status: "not_saved" }>> {
    const { path, owner, mode, force = false, acknowledgedBytes } = this.#command;
    const options = { force, templates: this.#lockTemplates };
    const lock = await acquireLock(path, owner, options).catch(async (error: NodeJS.ErrnoException) => {
      if (mode !== "create" || error.code !== "ENOENT") throw error;
      await this.#directories.make(dirname(path));
      return acquireLock(path, owner, options);
    });
    if (lock.status === "in_use") return lock;
    try {
      return await this.#openLocked();
    } catch (error) {
      await this.closeFile();
      // None of our lines is in the file, so the lock is released; a new attempt takes it again.
      if (acknowledgedBytes === undefined && !this.#created) await releaseLock(path, owner).catch(() => {});
      throw error;
    }
  }

  /**
   * Makes the file's directory entry durable, unless the file already had saved lines. Separate from opening, because
   * one sync can serve many new files.
   */
  async settle(): Promise<void> {
    if (this.#savedBytes === 0) await this.#directories.sync(dirname(this.#command.path));
    this.#opened = true;
  }

  /**
   * Writes every waiting line. They then survive a crash of the process; only `commit` makes them survive a crash of
   * the machine.
   */
  async write(): Promise<void> {
    await this.#runStep(() => this.#append());
  }

  /** Writes every waiting line and resolves when they are durable. */
  async commit(): Promise<Saved> {
    return this.#runStep(async () => {
      const fd = await this.#append();
      const { lines, bytes } = this.#written;
      await this.#sync(fd);
      await this.#verify(this.#savedBytes + bytes);
      this.#lines.splice(0, lines);
      this.#savedBytes += bytes;
      this.#written = { lines: 0, bytes: 0 };
      return { lines, bytes: this.#savedBytes };
    });
  }

  /** Closes the file; its next user opens it again. */
  async closeFile(): Promise<void> {
    const fd = this.#fd;
    this.#fd = undefined;
    this.#descriptors.inUse(this);
    // An error of close is ignored, because the data was synced before.
    if (fd !== undefined) await this.#fileSystem.close(fd).catch(() => {});
  }

  async close(): Promise<void> {
    await this.closeFile();
    await releaseLock(this.#command.path, this.#command.owner).catch(() => {});
  }

  async #openLocked(): Promise<Extract<OpenOutcome, { status: "open" }>> {
    const { path, mode, acknowledgedBytes } = this.#command;
    // After a crash of the thread the file may exist already, created by the previous writer.
    const exclusive = acknowledgedBytes === undefined ? constants.O_EXCL : 0;
    const { fd, size } = await this.#openFd(mode === "create" && !this.#created ? constants.O_CREAT | exclusive : 0);
    if (mode === "create") await this.#fileSystem.fchmod(fd, 0o600);
    const known = acknowledgedBytes ?? (mode === "create" ? 0 : undefined);
    if (known === undefined) {
      const repaired = await repairTail(this.#fileSystem, fd, path, size);
      return this.#finishOpening(repaired.bytes, repaired.torn);
    }
    if (size < known) throw new RolloutFileError("the file was truncated by another program");
    // The bytes after it were written by an earlier writer, which may have failed to sync them.
    this.#nextCheck = "rewrite";
    return this.#finishOpening(known, undefined);
  }

  async #finishOpening(
    bytes: number,
    torn: { bytes: number; keptAs: string } | undefined,
  ): Promise<Extract<OpenOutcome, { status: "open" }>> {
    this.#savedBytes = bytes;
    await this.#descriptors.idle(this);
    return { status: "open", bytes, ...(torn === undefined ? {} : { torn }) };
  }

  /** After a failed step, the file's contents are checked before the next one. */
  async #runStep<T>(step: () => Promise<T>): Promise<T> {
    this.#descriptors.inUse(this);
    try {
      const result = await step();
      await this.#descriptors.idle(this);
      return result;
    } catch (error) {
      await this.closeFile();
      if (this.#nextCheck === "append") this.#nextCheck = "compare";
      throw error;
    }
  }

  async #append(): Promise<number> {
    const fd = await this.#ready();
    const { lines, bytes } = this.#written;
    const added = Buffer.from(this.#lines.slice(lines).join(""));
    const count = this.#lines.length;
    if (added.length > 0) await this.#writeOrUndo(fd, added);
    this.#written = { lines: count, bytes: bytes + added.length };
    this.#nextCheck = "append";
    return fd;
  }

  /** A partial write is undone as far as possible, because there may be no further attempt. */
  async #writeOrUndo(fd: number, bytes: Uint8Array): Promise<void> {
    try {
      await writeAll(this.#fileSystem, fd, bytes);
    } catch (error) {
      await this.#sizeOf(fd)
        .then(({ size }) => this.#compare(fd, size))
        .catch(() => undefined);
      throw error;
    }
  }

  /** Returns a descriptor to append to, positioned after the waiting lines that are already in the file. */
  async #ready(): Promise<number> {
    if (this.#fd !== undefined && this.#nextCheck === "append") return this.#fd;
    const { fd, size } = this.#fd === undefined ? await this.#openFd(0) : await this.#sizeOf(this.#fd);
    this.#written = await this.#compare(fd, size);
    return fd;
  }

  async #openFd(flags: number): Promise<{ fd: number; size: number }> {
    const fd = await this.#openOrMakeRoom(
      constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags,
    );
    this.#fd = fd;
    if ((flags & constants.O_CREAT) !== 0) this.#created = true;
    const stats = await this.#fileSystem.fstat(fd);
    if (!stats.isFile()) throw new RolloutFileError("not a regular file");
    this.#identity ??= { dev: stats.dev, ino: stats.ino };
    this.#requireSame(stats);
    return { fd, size: stats.size };
  }

  async #openOrMakeRoom(flags: number): Promise<number> {
    const { path } = this.#command;
    try {
      return await this.#fileSystem.open(path, flags, 0o600);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EMFILE" && code !== "ENFILE") throw error;
      await this.#descriptors.closeIdle();
      return this.#fileSystem.open(path, flags, 0o600);
    }
  }

  async #sizeOf(fd: number): Promise<{ fd: number; size: number }> {
    return { fd, size: (await this.#fileSystem.fstat(fd)).size };
  }

  /** Truncates a partially written line; bytes that are not ours are never touched. */
  async #compare(fd: number, size: number): Promise<{ lines: number; bytes: number }> {
    if (size < this.#savedBytes) throw new RolloutFileError("the file was truncated by another program");
    if (size === this.#savedBytes) return { lines: 0, bytes: 0 };
    const found = await readRange(this.#fileSystem, fd, this.#savedBytes, size);
    const expected = Buffer.from(this.#lines.join(""));
    if (!found.equals(expected.subarray(0, found.length))) {
      throw new RolloutFileError("the file was changed by another program");
    }
    const whole = this.#nextCheck === "rewrite" ? { lines: 0, bytes: 0 } : wholeLines(this.#lines, found.length);
    if (whole.bytes < found.length) await this.#fileSystem.ftruncate(fd, this.#savedBytes + whole.bytes);
    return whole;
  }

  async #sync(fd: number): Promise<void> {
    try {
      await this.#fileSystem.fdatasync(fd);
    } catch (error) {
      this.#nextCheck = "rewrite";
      throw error;
    }
  }

  /** The path must still refer to the file we wrote, and no other process may have written to it. */
  async #verify(end: number): Promise<void> {
    const stats = await this.#fileSystem.lstat(this.#command.path);
    this.#requireSame(stats);
    if (stats.size !== end) throw new RolloutFileError("the file was changed by another program");
  }

  #requireSame(stats: Stats): void {
    if (stats.ino === this.#identity?.ino && stats.dev === this.#identity.dev) return;
    throw new RolloutFileError("the file was replaced by another program");
  }
}

function wholeLines(lines: readonly string[], length: number): { lines: number; bytes: number } {
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    const next = bytes + Buffer.byteLength(line);
    if (next > length) break;
    bytes = next;
    count += 1;
  }
  return { lines: count, bytes };
}

/** Something that keeps a file open for its next use and can close it on request. */
interface Holder {
  closeFile(): Promise<void>;
}

/** Bounds the number of files that stay open between writes: the least recently used are closed. */
export class Descriptors {
  readonly #limit: number;
  /** In order of last use. */
  readonly #idle = new Set<Holder>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  inUse(holder: Holder): void {
    this.#idle.delete(holder);
  }

  async idle(holder: Holder): Promise<void> {
    this.#idle.add(holder);
    for (const oldest of this.#idle) {
      if (this.#idle.size <= this.#limit) break;
      this.#idle.delete(oldest);
      await oldest.closeFile();
    }
  }

  /** Called when the process has run out of file descriptors. */
  async closeIdle(): Promise<void> {
    const holders = [...this.#idle];
    this.#idle.clear();
    await Promise.all(holders.map((holder) => holder.closeFile()));
  }
}
