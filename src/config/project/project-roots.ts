import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { findProjectRoot } from "./project.js";

/** The root of the project that contains a folder. */
export interface ProjectRoots {
  readonly root: string;
  /** The root as a real path. Trust is recorded for it: a link must not lend its trust to another folder. */
  readonly realRoot: string;
}

export async function findProjectRoots(cwd: string): Promise<ProjectRoots> {
  const [root, real] = await Promise.all([findProjectRoot(cwd), realpath(cwd).catch(() => resolve(cwd))]);
  return { root, realRoot: real === resolve(cwd) ? root : await findProjectRoot(real) };
}

/** Finds project roots. Callers that ask for the same folder at the same time share one search. */
export class ProjectFinder {
  readonly #searches = new Map<string, Promise<ProjectRoots>>();

  find(cwd: string): Promise<ProjectRoots> {
    const known = this.#searches.get(cwd);
    if (known !== undefined) return known;
    // Forgotten at its end, because a later search may find a repository that was created meanwhile.
    const search = findProjectRoots(cwd).finally(() => this.#searches.delete(cwd));
    this.#searches.set(cwd, search);
    return search;
  }
}
