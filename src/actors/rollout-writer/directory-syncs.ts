import { syncDirectory, type FileSystem } from "../../rollouts/file-system.js";

interface Syncing {
  readonly current: Promise<void>;
  next?: Promise<void>;
}

/** Makes new names in directories durable; many that come at once are served by one sync. */
export class DirectorySyncs {
  readonly #fileSystem: FileSystem;
  readonly #syncing = new Map<string, Syncing>();

  constructor(fileSystem: FileSystem) {
    this.#fileSystem = fileSystem;
  }

  /** Resolves when a sync that began after this call has ended. */
  sync(directory: string): Promise<void> {
    const syncing = this.#syncing.get(directory);
    if (syncing === undefined) return this.#begin(directory);
    syncing.next ??= syncing.current.catch(() => {}).then(() => this.#begin(directory));
    return syncing.next;
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
