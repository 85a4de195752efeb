import * as fs from "node:fs";
import { sep } from "node:path";
import { idFromFileName } from "../layout.js";

const year = /^\d{4}$/;
const monthOrDay = /^\d\d$/;

/** A rollout identified by its file name, without opening it. */
export interface RolloutName {
  readonly id: string;
  readonly path: string;
}

/**
 * Finds the rollouts below a directory in any layout; empty if the directory does not exist. `visit` is called for each
 * folder and reads its names.
 */
export async function rolloutsIn(
  directory: string,
  visit: FolderVisit<Promise<Names>> = readOnly,
): Promise<RolloutName[]> {
  const walking = walk(directory);
  let step = walking.next();
  while (step.done !== true) {
    const folder = step.value;
    step = walking.next(await visit(folder, () => namesIn(folder, folder === directory)));
  }
  return step.value;
}

/** Synchronous variant for short commands. */
export function rolloutsInSync(directory: string, visit: FolderVisit<Names> = readOnly): RolloutName[] {
  const walking = walk(directory);
  let step = walking.next();
  while (step.done !== true) {
    const folder = step.value;
    step = walking.next(visit(folder, () => namesInSync(folder, folder === directory)));
  }
  return step.value;
}

type Names = readonly string[];

type FolderVisit<T> = (folder: string, names: () => T) => T;

function readOnly<T>(_: string, names: () => T): T {
  return names();
}

/**
 * Walks the directories: flat files, project folders, and Codex's `YYYY/MM/DD`. It yields each directory and receives
 * its names. Of two files of one conversation the one with the later name counts, because Codex continues in a new
 * file after a rollback.
 */
function* walk(root: string): Generator<string, RolloutName[], readonly string[]> {
  const found = new Map<string, { id: string; name: string; path: string }>();
  const take = (folder: string, names: readonly string[]): void => {
    for (const name of names) {
      const id = idFromFileName(name);
      if (id === undefined) continue;
      const before = found.get(id);
      // Not `join`, which takes longer than everything else here.
      if (before === undefined || before.name < name) found.set(id, { id, name, path: folder + sep + name });
    }
  };
  const top = yield root;
  take(root, top);
  for (const folder of top.filter(mayBeFolder)) {
    const path = root + sep + folder;
    const names = yield path;
    take(path, names);
    if (!year.test(folder)) continue;
    for (const month of names.filter((name) => monthOrDay.test(name))) {
      const days = yield path + sep + month;
      for (const day of days.filter((name) => monthOrDay.test(name))) {
        const last = path + sep + month + sep + day;
        take(last, yield last);
      }
    }
  }
  return Array.from(found.values(), ({ id, path }) => ({ id, path }));
}

/**
 * Excludes files beside rollouts, such as locks and torn lines: their names contain the rollout's, folder names never
 * do.
 */
function mayBeFolder(name: string): boolean {
  return !name.includes(".jsonl") && !name.startsWith(".heads.json");
}

function namesIn(directory: string, isRoot: boolean): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    fs.readdir(directory, (error, names) => {
      if (error === null) resolve(names);
      else if (isNone(error, isRoot)) resolve([]);
      else reject(error);
    });
  });
}

function namesInSync(directory: string, isRoot: boolean): readonly string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if (isNone(error as NodeJS.ErrnoException, isRoot)) return [];
    throw error;
  }
}

/** Ignores errors below the root, which may contain anything; only the root itself must be readable if it exists. */
function isNone({ code }: NodeJS.ErrnoException, isRoot: boolean): boolean {
  return code === "ENOENT" || !isRoot;
}
