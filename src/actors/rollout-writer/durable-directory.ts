import { dirname } from "node:path";
import { syncDirectory, type FileSystem } from "../../rollouts/file/file-system.js";

/** Errors of directories above ours: some cannot be read, and some do not support sync (autofs). */
const ignoredSyncErrors = new Set<string | undefined>(["EACCES", "EINVAL"]);

interface Syncing {
  readonly current: Promise<void>;
  next?: Promise<void>;
}

/** Makes new directory entries durable; one sync serves many that come at once. */
export class DirectorySyncs {
  readonly #fileSystem: FileSystem;
  readonly #syncing = new Map<string, Syncing>();
  /** Directories whose own entry is durable, or is being made so. */
  readonly #named = new Map<string, Promise<void>>();

  constructor(fileSystem: FileSystem) {
    this.#fileSystem = fileSystem;
  }

  make(directory: string): Promise<void> {
    this.#named.delete(directory);
    return makeDurableDirectory(this.#fileSystem, directory);
  }

  /** Resolves when the directory's own entry is durable and a sync that began after this call has ended. */
  async sync(directory: string): Promise<void> {
    await this.#name(directory);
    const syncing = this.#syncing.get(directory);
    if (syncing === undefined) return this.#begin(directory);
    syncing.next ??= syncing.current.catch(() => {}).then(() => this.#begin(directory));
    return syncing.next;
  }

  #name(directory: string): Promise<void> {
    const naming = this.#named.get(directory) ?? syncDirectoryEntry(this.#fileSystem, directory);
    this.#named.set(directory, naming);
    naming.catch(() => this.#named.delete(directory));
    return naming;
  }

  #begin(directory: string): Promise<void> {
    const current = this.#perform(directory);
    this.#syncing.set(directory, { current });
    return current;
  }

  async #perform(directory: string): Promise<void> {
    try {
      await syncDirectory(this.#fileSystem, directory);
    } finally {
      if (this.#syncing.get(directory)?.next === undefined) this.#syncing.delete(directory);
    }
  }
}

/**
 * Creates a directory and its missing parents with mode 0700, whatever the umask; existing ones stay as they are. Its
 * own entry need not be durable yet: the caller that puts something into it syncs it.
 */
export async function makeDurableDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  if (await pathExists(fileSystem, path)) return;
  const parent = dirname(path);
  await makeDurableDirectory(fileSystem, parent);
  await syncDirectoryEntry(fileSystem, parent);
  try {
    await fileSystem.mkdir(path, 0o700);
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  await fileSystem.chmod(path, 0o700);
}

/**
 * Makes a directory's own entry durable, even if another process created it: that one may have died before its sync.
 */
async function syncDirectoryEntry(fileSystem: FileSystem, path: string): Promise<void> {
  try {
    await syncDirectory(fileSystem, dirname(path));
  } catch (error) {
    if (!ignoredSyncErrors.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

async function pathExists(fileSystem: FileSystem, path: string): Promise<boolean> {
  try {
    await fileSystem.lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
