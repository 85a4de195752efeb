import { lstat } from "node:fs/promises";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";

/** Resuming asks for the same few paths again and again. */
const maxKnown = 1_000;

/** Where conversations were seen last, so that a tree need not be searched for every question about one of them. */
export class KnownPaths {
  readonly #paths = new Map<string, string>();

  set({ id, path }: RolloutName): void {
    this.#paths.delete(id);
    this.#paths.set(id, path);
    for (const oldest of this.#paths.keys()) {
      if (this.#paths.size <= maxKnown) break;
      this.#paths.delete(oldest);
    }
  }

  /** Nothing when it is not there any more: Codex moves what it archives. */
  async get(id: string): Promise<string | undefined> {
    const path = this.#paths.get(id);
    if (path === undefined) return undefined;
    const stats = await lstat(path).catch(() => undefined);
    if (stats !== undefined) return path;
    this.#paths.delete(id);
    return undefined;
  }
}
