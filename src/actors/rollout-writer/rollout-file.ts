import { constants, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { OpenOutcome, RolloutCommand } from "../../messages/rollout-command.js";
import { readRange, writeAll, type FileSystem } from "../../rollouts/file/file-system.js";
import { releaseLock, takeLock } from "../../rollouts/file/lock.js";
import { mendTail } from "../../rollouts/file/torn-tail.js";
import type { Descriptors, Holder } from "./descriptors.js";
import type { DirectorySyncs } from "./directory-syncs.js";
import { RolloutFileError } from "./reason.js";

export type OpenCommand = Extract<RolloutCommand, { type: "open" }>;

/** What all rollouts of a writer share. */
export interface Disk {
  readonly fileSystem: FileSystem;
  readonly descriptors: Descriptors;
  readonly directories: DirectorySyncs;
}

export interface Saved {
  readonly lines: number;
  readonly bytes: number;
}

/**
 * One rollout and the lines that wait to be in it. Every call may fail and be made again: up to `#savedBytes` the
 * file is known to be durable, and what stands behind is compared with the waiting lines before anything is added.
 * Only one call at a time.
 */
export class RolloutFile implements Holder {
  readonly #fileSystem: FileSystem;
  readonly #descriptors: Descriptors;
  readonly #directories: DirectorySyncs;
  readonly #command: OpenCommand;
  #lines: string[] = [];
  /** How many of the waiting lines stand in the file, not yet durable, and how many bytes they are. */
  #written = { lines: 0, bytes: 0 };
  #fd: number | undefined;
  #identity: Pick<Stats, "dev" | "ino"> | undefined;
  #savedBytes = 0;
  #opened = false;
  #created = false;
  /**
   * What must be done before appending: nothing, compare what stands behind the saved bytes, or write it again.
   * After a failed sync the cache may show bytes that are not on the disk and never will be.
   */
  #before: "append" | "compare" | "rewrite" = "append";

  constructor(disk: Disk, command: OpenCommand) {
    this.#fileSystem = disk.fileSystem;
    this.#descriptors = disk.descriptors;
    this.#directories = disk.directories;
    this.#command = command;
  }

  get opened(): boolean {
    return this.#opened;
  }

  get savedBytes(): number {
    return this.#savedBytes;
  }

  /** Lines that are not durable. */
  get waitingLines(): number {
    return this.#lines.length;
  }

  /** Lines that do not stand in the file. */
  get unwrittenLines(): number {
    return this.#lines.length - this.#written.lines;
  }

  add(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
  }

  /** Takes the lock and opens the file; only after `settle` is it open. */
  async open(): Promise<Exclude<OpenOutcome, { status: "not_saved" }>> {
    const { path, owner, mode, force, acknowledgedBytes } = this.#command;
    const lock = await takeLock(path, owner, { force: force ?? false }).catch(async (error: NodeJS.ErrnoException) => {
      if (mode !== "create" || error.code !== "ENOENT") throw error;
      await this.#directories.make(dirname(path));
      return takeLock(path, owner, { force: force ?? false });
    });
    if (lock.status === "in_use") return lock;
    try {
      return await this.#openLocked();
    } catch (error) {
      await this.letGo();
      // Nothing of ours stands in the file, so nobody need be kept from it; a new attempt takes the lock again.
      if (acknowledgedBytes === undefined && !this.#created) await releaseLock(path, owner).catch(() => {});
      throw error;
    }
  }

  /**
   * Makes the name of the file durable, unless something was saved in it before. Apart from opening: one sync can serve
   * many new files.
   */
  async settle(): Promise<void> {
    if (this.#savedBytes === 0) await this.#directories.sync(dirname(this.#command.path));
    this.#opened = true;
  }

  /** Writes every waiting line, which then outlives the process; only `commit` makes it outlive the machine. */
  async write(): Promise<void> {
    await this.#whole(() => this.#append());
  }

  /** Writes every waiting line and answers when they are durable. */
  async commit(): Promise<Saved> {
    return this.#whole(async () => {
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

  /** Closes the file; whoever needs it next opens it again. */
  async letGo(): Promise<void> {
    const fd = this.#fd;
    this.#fd = undefined;
    this.#descriptors.inUse(this);
    // An error of close says nothing new: what counts was synced before.
    if (fd !== undefined) await this.#fileSystem.close(fd).catch(() => {});
  }

  async close(): Promise<void> {
    await this.letGo();
    await releaseLock(this.#command.path, this.#command.owner).catch(() => {});
  }

  async #openLocked(): Promise<Extract<OpenOutcome, { status: "open" }>> {
    const { path, mode, acknowledgedBytes } = this.#command;
    // After a crash of the thread the file may be there already, made by the one before.
    const exclusive = acknowledgedBytes === undefined ? constants.O_EXCL : 0;
    const { fd, size } = await this.#openFd(mode === "create" && !this.#created ? constants.O_CREAT | exclusive : 0);
    if (mode === "create") await this.#fileSystem.fchmod(fd, 0o600);
    const known = acknowledgedBytes ?? (mode === "create" ? 0 : undefined);
    if (known === undefined) {
      const mended = await mendTail(this.#fileSystem, fd, path, size);
      return this.#isOpen(mended.bytes, mended.torn);
    }
    if (size < known) throw new RolloutFileError("the file has become shorter");
    // Behind it stands what a writer before us wrote, and perhaps failed to sync.
    this.#before = "rewrite";
    return this.#isOpen(known, undefined);
  }

  async #isOpen(
    bytes: number,
    torn: { bytes: number; keptAs: string } | undefined,
  ): Promise<Extract<OpenOutcome, { status: "open" }>> {
    this.#savedBytes = bytes;
    await this.#descriptors.idle(this);
    return { status: "open", bytes, ...(torn === undefined ? {} : { torn }) };
  }

  /** After a step that failed, what stands in the file is looked at before the next. */
  async #whole<T>(step: () => Promise<T>): Promise<T> {
    this.#descriptors.inUse(this);
    try {
      const result = await step();
      await this.#descriptors.idle(this);
      return result;
    } catch (error) {
      await this.letGo();
      if (this.#before === "append") this.#before = "compare";
      throw error;
    }
  }

  async #append(): Promise<number> {
    const fd = await this.#ready();
    const { lines, bytes } = this.#written;
    const added = Buffer.from(this.#lines.slice(lines).join(""));
    const count = this.#lines.length;
    if (added.length > 0) await this.#writeWhole(fd, added);
    this.#written = { lines: count, bytes: bytes + added.length };
    this.#before = "append";
    return fd;
  }

  /** What fails half way is taken back as far as it can be: nobody knows whether there will be another attempt. */
  async #writeWhole(fd: number, bytes: Uint8Array): Promise<void> {
    try {
      await writeAll(this.#fileSystem, fd, bytes);
    } catch (error) {
      await this.#sizeOf(fd)
        .then(({ size }) => this.#compare(fd, size))
        .catch(() => undefined);
      throw error;
    }
  }

  /** A descriptor to append to, behind those of the waiting lines that stand in the file already. */
  async #ready(): Promise<number> {
    if (this.#fd !== undefined && this.#before === "append") return this.#fd;
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

  /** Cuts off the part of a line that was not written whole; what is not ours is never touched. */
  async #compare(fd: number, size: number): Promise<{ lines: number; bytes: number }> {
    if (size < this.#savedBytes) throw new RolloutFileError("the file has become shorter");
    if (size === this.#savedBytes) return { lines: 0, bytes: 0 };
    const found = await readRange(this.#fileSystem, fd, this.#savedBytes, size);
    const expected = Buffer.from(this.#lines.join(""));
    if (!found.equals(expected.subarray(0, found.length))) {
      throw new RolloutFileError("the file was changed by another program");
    }
    const whole = this.#before === "rewrite" ? { lines: 0, bytes: 0 } : wholeLines(this.#lines, found.length);
    if (whole.bytes < found.length) await this.#fileSystem.ftruncate(fd, this.#savedBytes + whole.bytes);
    return whole;
  }

  async #sync(fd: number): Promise<void> {
    try {
      await this.#fileSystem.fdatasync(fd);
    } catch (error) {
      this.#before = "rewrite";
      throw error;
    }
  }

  /** The name must still mean the file we wrote to, and nobody else may have written to it. */
  async #verify(end: number): Promise<void> {
    const stats = await this.#fileSystem.lstat(this.#command.path);
    this.#requireSame(stats);
    if (stats.size !== end) throw new RolloutFileError("the file was changed by another program");
  }

  #requireSame(stats: Stats): void {
    if (stats.ino === this.#identity?.ino && stats.dev === this.#identity.dev) return;
    throw new RolloutFileError("the file was replaced by another one");
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
