import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";
import { rulesIn } from "./rules-in.js";

/** Never tracked, also where no file says that they are ignored. */
const alwaysIgnored: ReadonlySet<string> = new Set([".git", ".hg", ".svn", "node_modules"]);

/** The rules of one `.gitignore`, and how its own paths are had from those of the workspace. */
interface Rules {
  readonly text: string;
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

  /** The rules for a workspace: also those of the repository around it, after those that stand in no folder of it. */
  static of(root: string, read: ReadRules = rulesIn, excludes: readonly string[] = []): IgnoreRules {
    const repository = repositoryOf(root);
    if (repository === undefined) {
      return new IgnoreRules(
        rulesOf(read(join(root, ".gitignore")), (path) => path),
        read,
      );
    }
    const stack = excludes.flatMap((text) => rulesOf(text, (path) => join(relative(repository, root), path)));
    for (const folder of foldersBetween(repository, root)) {
      const text = folder === root ? read(join(folder, ".gitignore")) : rulesIn(join(folder, ".gitignore"));
      stack.push(...rulesOf(text, (path) => join(relative(folder, root), path)));
    }
    return new IgnoreRules(stack, read);
  }

  /** The same with what a folder of the workspace adds; `path` is relative to the workspace. */
  within(root: string, path: string): IgnoreRules {
    const own = rulesOf(this.#read(join(root, path, ".gitignore")), (inner) => inner.slice(path.length + 1));
    const stack = this.#stack.map((rules) => entered(rules, path));
    const isSame = own.length === 0 && stack.every((rules, index) => rules === this.#stack[index]);
    return isSame ? this : new IgnoreRules([...stack, ...own], this.#read);
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
  return text === "" ? [] : [{ text, rules: ignore({ ignorecase: false }).add(text), relative: own }];
}

/**
 * Rules that ignore a folder say nothing but that of all that is in it. Where others, that count before them, have
 * brought the folder back, each file in it is looked at anew.
 */
function entered(rules: Rules, folder: string): Rules {
  const path = rules.relative(folder);
  // A rule has no way to name a line break.
  if (/[\r\n]/.test(path) || !rules.rules.test(`${path}/`).ignored) return rules;
  const [own] = rulesOf(`${rules.text}\n!/${path.replaceAll(/[\\*?[\]!# ]/g, "\\$&")}/`, rules.relative);
  return own ?? rules;
}

/** The nearest folder upwards that git keeps. */
export function repositoryOf(root: string): string | undefined {
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
