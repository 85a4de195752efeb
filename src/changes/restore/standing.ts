import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileAt, type FoundFile } from "../workspace/walk.js";

/** What is found where a file is to be restored. */
export type Found =
  | { readonly is: "file"; readonly file: FoundFile }
  /** Also what is itself to go. */
  | { readonly is: "nothing" }
  /** A folder, a pipe, or a file where there was a folder: the file is not there, and cannot be put there. */
  | { readonly is: "other" }
  /** The path leads through a link, or to where nothing is restored. */
  | { readonly is: "elsewhere" };

/** What of a folder is to go when a change is taken back. */
export interface Leaving {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

/**
 * What stands in a folder in which a change is to be taken back. Names are those the folder lists: where `a` and `A`
 * are the same, who asks for one must not be given the other.
 */
export class Standing {
  readonly #root: string;
  readonly #leaving: Leaving;
  readonly #listed = new Map<string, ReadonlyMap<string, Dirent>>();

  constructor(root: string, leaving: Leaving) {
    this.#root = root;
    this.#leaving = leaving;
  }

  at(path: string): Found {
    if (!isInside(path)) return { is: "elsewhere" };
    for (const parent of parentsOf(path)) {
      const entry = this.#entry(parent);
      if (entry === undefined) return { is: this.#isUnused(parent) ? "nothing" : "other" };
      if (entry.isDirectory()) continue;
      if (this.#leaving.files.has(parent)) return { is: "nothing" };
      return { is: entry.isSymbolicLink() ? "elsewhere" : "other" };
    }
    const entry = this.#entry(path);
    if (entry === undefined) return { is: this.#isUnused(path) ? "nothing" : "other" };
    const file = fileAt(this.#root, path);
    if (file !== undefined) return { is: "file", file };
    return { is: this.goes(path) ? "nothing" : "other" };
  }

  /** Whether there is nothing, or will be nothing once all is gone that is to go. */
  isFree(path: string): boolean {
    const found = this.at(path);
    return found.is === "nothing" || (found.is === "file" && this.#leaving.files.has(path));
  }

  /** Whether a folder stands there, and no link on the way to it. */
  isFolder(path: string): boolean {
    return isInside(path) && [...parentsOf(path), path].every((one) => this.#entry(one)?.isDirectory() === true);
  }

  /** Whether it will be gone, with all that is in it. */
  goes(path: string): boolean {
    if (this.#entry(path)?.isDirectory() !== true) return this.#leaving.files.has(path);
    if (!this.#leaving.folders.has(path)) return false;
    return [...this.#entries(path).keys()].every((name) => this.goes(`${path}/${name}`));
  }

  /** Nothing has the name; where case does not count, what has it in another case must go. */
  #isUnused(path: string): boolean {
    if (lstatSync(join(this.#root, path), { throwIfNoEntry: false }) === undefined) return true;
    const folder = parentOf(path);
    const others = [...this.#entries(folder).keys()].map((name) => (folder === "" ? name : `${folder}/${name}`));
    return others.filter((other) => folded(other) === folded(path)).every((other) => this.goes(other));
  }

  #entry(path: string): Dirent | undefined {
    return this.#entries(parentOf(path)).get(path.slice(path.lastIndexOf("/") + 1));
  }

  #entries(folder: string): ReadonlyMap<string, Dirent> {
    const known = this.#listed.get(folder);
    if (known !== undefined) return known;
    const entries = new Map(listed(join(this.#root, folder)).map((entry) => [entry.name, entry]));
    this.#listed.set(folder, entries);
    return entries;
  }
}

/** A record could be anybody's: nothing in it leads out of its folder, or into a repository. */
function isInside(path: string): boolean {
  return path.split("/").every((name) => !["", ".", "..", ".git"].includes(name) && !name.includes("\0"));
}

/** The outermost first. */
export function parentsOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function folded(name: string): string {
  return name.normalize().toLowerCase();
}

function listed(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
