import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { chmod, mkdir, rmdir, stat } from "node:fs/promises";
import type { ChangeRecord, KeptFolder } from "../../messages/tools/change-record.js";
import { openFolder } from "../../tools/files/open-folder.js";
import { fileAt, type FoundFile, folderAt } from "../workspace/walk.js";

const defaultMode = 0o755;

const permissionBits = 0o777;

/** The entry found at the path of a file to restore. */
type PathState =
  | { readonly is: "file"; readonly file: FoundFile }
  /** Includes entries that the undo itself removes. */
  | { readonly is: "nothing" }
  /** A folder, a pipe, or a file in place of a parent folder: the file does not exist and cannot be created. */
  | { readonly is: "other" }
  /** The path leads through a link, or to a place where nothing is restored. */
  | { readonly is: "elsewhere" };

/** The files and folders that the undo removes. */
interface RemovedPaths {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

/**
 * The current state of the folder in which a change is to be undone. It compares names with those in the directory
 * listing, because on a case-insensitive file system a lookup of `a` would find `A`.
 */
export class FolderState {
  readonly #root: string;
  readonly #leaving: RemovedPaths;
  readonly #listed = new Map<string, ReadonlyMap<string, Dirent>>();

  constructor(root: string, leaving: RemovedPaths) {
    this.#root = root;
    this.#leaving = leaving;
  }

  at(path: string): PathState {
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

  /** Whether the path is free, or will be once everything in `RemovedPaths` is removed. */
  isFree(path: string): boolean {
    const found = this.at(path);
    return found.is === "nothing" || (found.is === "file" && this.#leaving.files.has(path));
  }

  /** Whether the path is a folder with no link on the way to it. */
  isFolder(path: string): boolean {
    return isInside(path) && [...parentsOf(path), path].every((one) => this.#entry(one)?.isDirectory() === true);
  }

  /** Whether the entry will be removed, together with everything in it. */
  goes(path: string): boolean {
    if (this.#entry(path)?.isDirectory() !== true) return this.#leaving.files.has(path);
    if (!this.#leaving.folders.has(path)) return false;
    return [...this.#entries(path).keys()].every((name) => this.goes(`${path}/${name}`));
  }

  /**
   * Whether no entry has this name. On case-insensitive file systems, entries with the name in another case must be
   * leaving.
   */
  #isUnused(path: string): boolean {
    if (lstatSync(join(this.#root, path), { throwIfNoEntry: false }) === undefined) return true;
    const folder = parentOf(path);
    const others = [...this.#entries(folder).keys()].map((name) => (folder === "" ? name : `${folder}/${name}`));
    return others.filter((other) => foldCase(other) === foldCase(path)).every((other) => this.goes(other));
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

/** Records are untrusted: their paths must not lead out of the folder or into a repository's `.git`. */
function isInside(path: string): boolean {
  return path.split("/").every((name) => !["", ".", "..", ".git"].includes(name) && !name.includes("\0"));
}

/** Returns the parent folders, outermost first. */
function parentsOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function foldCase(name: string): string {
  return name.normalize().toLowerCase();
}

function listed(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** A folder to create or remove, with its permissions before and after; null where the folder does not exist. */
export interface FolderStep {
  readonly path: string;
  readonly current: number | null;
  readonly target: number | null;
}

/** Returns the folders that a change created or removed. */
export function changedFolders({ files, folders }: ChangeRecord): readonly KeptFolder[] {
  if (folders !== undefined) return folders;
  // Old records do not list folders: assume that folders which contain only new files are new, as git does.
  const parents = (isSelected: (isNew: boolean) => boolean) =>
    files.filter(({ before }) => isSelected(before === null)).flatMap(({ path }) => parentsOf(path));
  const filled = new Set(parents((isNew) => !isNew));
  const created = new Set(parents((isNew) => isNew).filter((path) => !filled.has(path)));
  return [...created].map((path) => ({ path, before: null, after: defaultMode }));
}

/** Returns the steps for the folders that differ from their state before the change. */
export function folderSteps(root: string, folders: readonly KeptFolder[], state: FolderState): FolderStep[] {
  return folders.flatMap(({ path, before }): FolderStep[] => {
    if (before !== null) return state.isFree(path) ? [{ path, current: null, target: before }] : [];
    const found = state.isFolder(path) ? folderAt(root, path) : undefined;
    return found === undefined ? [] : [{ path, current: found.permissions, target: null }];
  });
}

/** Removes the innermost folders first; folders that are not empty stay. */
export async function removeFolders(root: string, steps: readonly FolderStep[]): Promise<void> {
  for (const { path } of byDepth(steps.filter(({ target }) => target === null)).toReversed()) {
    try {
      const { parents, name } = split(path);
      await using folder = await openFolder(root, parents);
      await folder.verify();
      await rmdir(folder.at(name));
    } catch {
      continue;
    }
  }
}

/** Creates the folders and returns those that succeeded. Until they are filled, only their owner can enter them. */
export async function makeFolders(root: string, steps: readonly FolderStep[]): Promise<FolderStep[]> {
  const created: FolderStep[] = [];
  for (const step of byDepth(steps.filter(({ target }) => target !== null))) {
    try {
      const { parents, name } = split(step.path);
      await using folder = await openFolder(root, parents);
      await folder.verify();
      await mkdir(folder.at(name), 0o700);
      created.push(step);
    } catch {
      continue;
    }
  }
  return created;
}

/** Sets the innermost permissions first, because a folder without access permission hides the ones inside it. */
export async function permitFolders(root: string, created: readonly FolderStep[]): Promise<void> {
  for (const { path, target } of byDepth(created).toReversed()) {
    try {
      await using folder = await openFolder(root, path.split("/"));
      await folder.verify();
      const { mode } = await stat(folder.at("."));
      await chmod(folder.at("."), (mode & ~permissionBits & 0o7777) | (target ?? defaultMode));
    } catch {
      continue;
    }
  }
}

function byDepth(steps: readonly FolderStep[]): FolderStep[] {
  return steps.toSorted((a, b) => parentsOf(a.path).length - parentsOf(b.path).length);
}

function split(path: string): { readonly parents: string[]; readonly name: string } {
  const parents = path.split("/");
  const name = parents.pop() ?? "";
  return { parents, name };
}
