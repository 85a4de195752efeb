import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ignore, { type Ignore } from "ignore";
import { readRegularFile } from "./regular-file.js";

/** Never tracked, also where no file says that they are ignored. */
const alwaysIgnored: ReadonlySet<string> = new Set([".git", ".hg", ".svn", "node_modules"]);
const maxRulesBytes = 1_000_000;

/** The rules of one `.gitignore`, and how its own paths are had from those of the workspace. */
interface Rules {
  readonly rules: Ignore;
  readonly relative: (path: string) => string;
}

/** What a file with rules says; empty where there is none. */
export type ReadRules = (file: string) => string;

/** What git ignores in a folder and those above it; a folder below gets its own with `within`. */
export class IgnoreRules {
  /** The nearest last: it counts before the others. */
  readonly #stack: readonly Rules[];
  readonly #read: ReadRules;

  private constructor(stack: readonly Rules[], read: ReadRules) {
    this.#stack = stack;
    this.#read = read;
  }

  /** The rules for a workspace: also those of the repository around it. */
  static of(root: string, read: ReadRules = textOf): IgnoreRules {
    const repository = repositoryOf(root);
    if (repository === undefined) {
      return new IgnoreRules(
        rulesOf(read(join(root, ".gitignore")), (path) => path),
        read,
      );
    }
    const stack = rulesOf(textOf(excludeFile(repository)), (path) => join(relative(repository, root), path));
    for (const folder of foldersBetween(repository, root)) {
      const text = folder === root ? read(join(folder, ".gitignore")) : textOf(join(folder, ".gitignore"));
      stack.push(...rulesOf(text, (path) => join(relative(folder, root), path)));
    }
    return new IgnoreRules(stack, read);
  }

  /** The same with what a folder of the workspace adds; `path` is relative to the workspace. */
  within(root: string, path: string): IgnoreRules {
    const own = rulesOf(this.#read(join(root, path, ".gitignore")), (inner) => inner.slice(path.length + 1));
    return own.length === 0 ? this : new IgnoreRules([...this.#stack, ...own], this.#read);
  }

  ignores(path: string, name: string, isFolder: boolean): boolean {
    if (alwaysIgnored.has(name)) return true;
    for (const { rules, relative: own } of this.#stack.toReversed()) {
      const { ignored, unignored } = rules.test(own(path) + (isFolder ? "/" : ""));
      if (ignored || unignored) return ignored;
    }
    return false;
  }
}

function rulesOf(text: string, own: (path: string) => string): Rules[] {
  return text === "" ? [] : [{ rules: ignore({ ignorecase: false }).add(text), relative: own }];
}

/** The nearest folder upwards that git keeps. */
function repositoryOf(root: string): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function foldersBetween(repository: string, root: string): string[] {
  const folders = [root];
  for (let folder = root; folder !== repository; folder = dirname(folder)) folders.unshift(dirname(folder));
  return folders;
}

/** A worktree's `.git` is a file that names its directory, which names the one all worktrees share. */
function excludeFile(repository: string): string {
  const git = join(repository, ".git");
  const own = /^gitdir: (.+)$/m.exec(textOf(git))?.[1];
  const directory = own === undefined ? git : resolve(repository, own.trim());
  const common = textOf(join(directory, "commondir")).trim();
  return join(common === "" ? directory : resolve(directory, common), "info", "exclude");
}

/** What is a link, a pipe or too large says nothing: a clone may bring any of them. */
export function textOf(file: string): string {
  try {
    return readRegularFile(file, maxRulesBytes).toString();
  } catch {
    return "";
  }
}
