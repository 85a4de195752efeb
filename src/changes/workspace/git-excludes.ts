import { join, resolve } from "node:path";
import { commonDirectoryNamed, gitDirectoryNamed } from "../../base/git/git-directory.js";
import type { GitUser } from "../../base/git/git-user.js";
import { excludesFileIn } from "./git-config.js";
import { repositoryOf } from "../../tools/search/ignore-rules.js";
import { gitTextIn } from "../../tools/search/rules-in.js";

/**
 * The rules by which git ignores files that stand in no `.gitignore`: its user's, then the clone's own, which count before
 * them. Git is not run: what a repository configures could have it run anything.
 */
export function readExcludes(root: string, user: GitUser | undefined): string[] {
  const repository = repositoryOf(root);
  if (repository === undefined) return [];
  const directory = gitDirectoryNamed(repository, gitTextIn(join(repository, ".git")));
  const common = commonDirectoryNamed(directory, gitTextIn(join(directory, "commondir")));
  const configs = [...(user?.configs ?? []), join(common, "config")];
  const named = configs.flatMap((file) => excludesFileIn(gitTextIn(file)) ?? []).at(-1);
  const own = named === undefined ? user?.ignore : pathOf(named, repository, user);
  return [own === undefined ? "" : gitTextIn(own), gitTextIn(join(common, "info", "exclude"))];
}

function pathOf(path: string, repository: string, user: GitUser | undefined): string | undefined {
  if (path === "") return undefined;
  if (!path.startsWith("~")) return resolve(repository, path);
  return user?.home !== undefined && path.startsWith("~/") ? join(user.home, path.slice(2)) : undefined;
}
