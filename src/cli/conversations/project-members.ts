import { stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { hasCommit } from "../../base/git/git-commits.js";
import { findProjectRoot } from "../../config/project/project.js";
import { readRelinks, type Relink, relinked } from "../../config/project/relinks.js";
import { firstCommit } from "../../rollouts/rollout-id.js";

/** The part of a conversation that decides which project it belongs to. */
export interface Member {
  /** The folder in which it was started. */
  readonly cwd?: string;
  readonly path: string;
}

interface Folder {
  readonly at: string;
  readonly isThere: boolean;
  readonly isInProject: boolean;
}

/**
 * Decides which conversations belong to a project: those started below it, and those started in a folder that no longer
 * exists and that was this project, either according to `cody relink` or because the commit they were started at is in
 * its repository.
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

  /** False if the folder alone shows that conversations started there do not belong to the project. */
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
    // A folder that was deleted inside another clone of the same repository still belongs to that clone.
    return (await this.#has(this.#root, commit)) && !(await this.#has(await findProjectRoot(at), commit));
  }

  /** Returns the folder's current path, whether it exists, and whether it belongs to the project. */
  folder(cwd: string): Promise<Folder> {
    return remembered(this.#folders, cwd, async () => {
      const at = resolve(relinked(cwd, this.#relinks));
      const [isThere, isInProject] = await Promise.all([isFolder(at), this.#holds(at)]);
      return { at, isThere, isInProject };
    });
  }

  /** Only folders below the root can have it as their project root, so all others skip the search. */
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

/** True if the path is the folder or inside it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
