import { lstat, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../base/system-error.js";
import { openFolder } from "../files/open-folder.js";
import type { WriteTarget } from "../policy/write-target.js";

/** The folders that have to be made for some files, so that they can be removed again. */
export class NewFolders {
  readonly #made: { readonly root: string; readonly folders: readonly string[] }[] = [];

  /** Before they are made. */
  async note({ root, folders }: WriteTarget): Promise<void> {
    for (let count = 1; count <= folders.length; count += 1) {
      const path = folders.slice(0, count);
      // Whatever else goes wrong with looking, an empty folder of somebody is not to be removed.
      const isMissing = await lstat(join(root, ...path)).then(
        () => false,
        (error: unknown) => systemCode(error) === "ENOENT",
      );
      if (isMissing) this.#made.push({ root, folders: path });
    }
  }

  /** The innermost first, and never through a symbolic link; what is not empty, or gone, is nothing of ours. */
  async remove(): Promise<void> {
    for (const { root, folders } of this.#made.toReversed()) {
      const name = folders.at(-1) ?? "";
      try {
        await using parent = await openFolder(root, folders.slice(0, -1));
        await rmdir(parent.at(name));
      } catch {
        // Somebody else uses it by now.
      }
    }
  }
}
