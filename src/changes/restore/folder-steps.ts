import { chmod, mkdir, rmdir, stat } from "node:fs/promises";
import type { ChangeRecord, KeptFolder } from "../../messages/tools/change-record.js";
import { openFolder } from "../../tools/files/open-folder.js";
import { folderAt } from "../workspace/walk.js";
import { parentsOf, type FolderState } from "./standing.js";

/** A folder to create or remove, with its permissions before and after; null where the folder does not exist. */
export interface FolderStep {
  readonly path: string;
  readonly current: number | null;
  readonly target: number | null;
}

const usual = 0o755;
const permissionBits = 0o777;

/** Returns the folders that a change created or removed. */
export function changedFolders({ files, folders }: ChangeRecord): readonly KeptFolder[] {
  if (folders !== undefined) return folders;
  // Old records do not list folders: assume that folders which contain only new files are new, as git does.
  const parents = (isMeant: (isNew: boolean) => boolean) =>
    files.filter(({ before }) => isMeant(before === null)).flatMap(({ path }) => parentsOf(path));
  const filled = new Set(parents((isNew) => !isNew));
  const made = new Set(parents((isNew) => isNew).filter((path) => !filled.has(path)));
  return [...made].map((path) => ({ path, before: null, after: usual }));
}

/** Returns the steps for the folders that differ from their state before the change. */
export function folderSteps(root: string, folders: readonly KeptFolder[], standing: FolderState): FolderStep[] {
  return folders.flatMap(({ path, before }): FolderStep[] => {
    if (before !== null) return standing.isFree(path) ? [{ path, current: null, target: before }] : [];
    const found = standing.isFolder(path) ? folderAt(root, path) : undefined;
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
  const made: FolderStep[] = [];
  for (const step of byDepth(steps.filter(({ target }) => target !== null))) {
    try {
      const { parents, name } = split(step.path);
      await using folder = await openFolder(root, parents);
      await folder.verify();
      await mkdir(folder.at(name), 0o700);
      made.push(step);
    } catch {
      continue;
    }
  }
  return made;
}

/** Sets the innermost permissions first, because a folder without access permission hides the ones inside it. */
export async function permitFolders(root: string, made: readonly FolderStep[]): Promise<void> {
  for (const { path, target } of byDepth(made).toReversed()) {
    try {
      await using folder = await openFolder(root, path.split("/"));
      await folder.verify();
      const { mode } = await stat(folder.at("."));
      await chmod(folder.at("."), (mode & ~permissionBits & 0o7777) | (target ?? usual));
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
