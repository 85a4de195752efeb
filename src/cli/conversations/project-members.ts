import { stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { hasCommit } from "../../base/git/git-commits.js";
import { findProjectRoot } from "../../config/project/project.js";
import { readRelinks, type Relink, relinked } from "../../config/project/relinks.js";
import { firstCommit } from "../../rollouts/rollout-id.js";

/** A conversation, as far as it tells whose it is. */
export interface Member {
  /** The folder it was begun in. */
  readonly cwd?: string;
  readonly path: string;
}

interface Folder {
  readonly at: string;
  readonly isThere: boolean;
  readonly isInProject: boolean;
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

  /** False when the folder alone tells that what was begun there is not the project's. */
  async mayInclude(cwd: string): Promise<boolean> {
    const { isThere, isInProject } = await this.folder(cwd);
    return isInProject || !isThere;
  }

  async includes({ cwd, path }: Member): Promise<boolean> {
    if (cwd === undefined) return false;
    const { at, isThere, isInProject } = await this.folder(cwd);
    if (isInProject || isThere) return isInProject;
    const commit = await firstCommit(path).catch(() => undefined);
    if (commit === undefined) return false;
    // A folder deleted inside another clone of the same repository is still that clone's.
    return (await this.#has(this.#root, commit)) && !(await this.#has(await findProjectRoot(at), commit));
  }

  /** Where a folder is now, whether it is there at all, and whether it is the project's. */
  folder(cwd: string): Promise<Folder> {
    return remembered(this.#folders, cwd, async () => {
      const at = resolve(relinked(cwd, this.#relinks));
      const [isThere, isInProject] = await Promise.all([isFolder(at), this.#holds(at)]);
      return { at, isThere, isInProject };
    });
  }

  /** Only a folder below the root can have it as its root, so nothing is looked for above all the others. */
  async #holds(folder: string): Promise<boolean> {
    return isBelow(folder, this.#root) && (await findProjectRoot(folder)) === this.#root;
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

/** Whether a path is the folder or lies in it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
