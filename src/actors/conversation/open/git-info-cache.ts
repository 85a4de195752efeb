import { findProjectRoot, readGitInfo } from "../../../config/project/project.js";
import type { GitInfo } from "../../../messages/rollout-line.js";

/** What git knows of folders. Conversations that are opened together look at their folder once. */
export class GitInfos {
  readonly #looking = new Map<string, Promise<GitInfo | undefined>>();

  of(cwd: string): Promise<GitInfo | undefined> {
    const known = this.#looking.get(cwd);
    if (known !== undefined) return known;
    const looking = findProjectRoot(cwd)
      .then(readGitInfo)
      .finally(() => this.#looking.delete(cwd));
    this.#looking.set(cwd, looking);
    return looking;
  }
}
