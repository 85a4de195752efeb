import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";
import { readRegularSync } from "../../base/fs/open-regular.js";

const maxRuleBytes = 1_000_000;

/** Always ignored, even if no `.gitignore` lists them. */
const alwaysIgnored: ReadonlySet<string> = new Set([".git", ".hg", ".svn", "node_modules"]);

/** The rules of one `.gitignore`, and the conversion from workspace paths to paths relative to it. */
interface Rules {
  readonly text: string;
  readonly rules: Ignore;
  readonly relative: (path: string) => string;
}

/** Returns the text of a file with rules; empty if there is none. */
export type ReadRules = (file: string) => string;

/**
 * The rules that git applies in a folder, including those from the folders above; `within` adds those of a subfolder.
 */
export class IgnoreRules {
  /** Nearest last; the nearest wins. */
  readonly #stack: readonly Rules[];
  readonly #read: ReadRules;

  private constructor(stack: readonly Rules[], read: ReadRules) {
    this.#stack = stack;
    this.#read = read;
  }

  /**
   * The rules for a workspace, including those of the repository around it. `excludes` are rules from outside the
   * folders and come first.
   */
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

  /** Adds the rules of a subfolder; `path` is relative to the workspace. */
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
 * Rules that ignore a folder also ignore everything in it. If stronger rules have re-included the folder, its files
 * must be tested individually.
 */
function entered(rules: Rules, folder: string): Rules {
  const path = rules.relative(folder);
  // A rule cannot express a line break.
  if (/[\r\n]/.test(path) || !rules.rules.test(`${path}/`).ignored) return rules;
  const [own] = rulesOf(`${rules.text}\n!/${path.replaceAll(/[\\*?[\]!# ]/g, "\\$&")}/`, rules.relative);
  return own ?? rules;
}

/** The nearest ancestor folder that is a git repository. */
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

/**
 * The text of a `.gitignore`. A link, a pipe or an oversized file counts as empty, because a cloned repository may
 * contain any of them.
 */
export function rulesIn(file: string): string {
  return textOr(() => readRegularSync(file, { links: "refuse", maxBytes: maxRuleBytes }));
}

/** The same for a file of git itself or of its user, which may be a link, as in git. */
export function gitTextIn(file: string): string {
  return textOr(() => readRegularSync(file, { links: "follow", maxBytes: maxRuleBytes }));
}

function textOr(read: () => Buffer): string {
  try {
    return read().toString();
  } catch {
    return "";
  }
}
