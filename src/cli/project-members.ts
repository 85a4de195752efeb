import { stat } from "node:fs/promises";
import { hasCommit } from "../config/git-commits.js";
import { findProjectRoot } from "../config/project.js";
import { readRelinks, type Relink, relinked } from "../config/relinks.js";
import { firstCommit } from "../rollouts/rollout-id.js";

/** A conversation, as far as it tells whose it is. */
export interface Member {
  /** The folder it was begun in. */
  readonly cwd?: string;
  readonly path: string;
}

interface Folder {
  readonly root: string;
  readonly isThere: boolean;
}

/**
 * Which conversations are a project's: those begun below it, and those begun in a folder that is gone and was it, by
 * what somebody said with `cody relink`, or because the commit they were begun at is in its repository.
 */
export class ProjectMembers {
  readonly #root: string;
  readonly #relinks: readonly Relink[];
  readonly #folders = new Map<string, Promise<Folder>>();
  readonly #commits = new Map<string, Promise<boolean>>();

  private constructor(root: string, relinks: readonly Relink[]) {
    this.#root = root;
    this.#relinks = relinks;
  }

  static async open(home: string, root: string): Promise<ProjectMembers> {
    return new ProjectMembers(root, await readRelinks(home));
  }

  async includes({ cwd, path }: Member): Promise<boolean> {
    if (cwd === undefined) return false;
    const { root, isThere } = await this.folder(cwd);
    if (root === this.#root || isThere) return root === this.#root;
    const commit = await firstCommit(path).catch(() => undefined);
    if (commit === undefined) return false;
    // A folder deleted inside another clone of the same repository is still that clone's.
    return (await this.#has(this.#root, commit)) && !(await this.#has(root, commit));
  }

  /** Where a folder is now, the root of its project, and whether it is there at all. */
  folder(cwd: string): Promise<Folder> {
    return remembered(this.#folders, cwd, async () => {
      const at = relinked(cwd, this.#relinks);
      const [root, isThere] = await Promise.all([findProjectRoot(at), isFolder(at)]);
      return { root, isThere };
    });
  }

  #has(root: string, commit: string): Promise<boolean> {
    return remembered(this.#commits, `${root}\0${commit}`, () => hasCommit(root, commit));
  }
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, find: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? find();
  known.set(key, found);
  return found;
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
