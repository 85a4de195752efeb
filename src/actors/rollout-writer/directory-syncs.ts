import { syncDirectory, type FileSystem } from "../../rollouts/file/file-system.js";
import { makeDurableDirectory, syncDirectoryEntry } from "./make-directory.js";

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
