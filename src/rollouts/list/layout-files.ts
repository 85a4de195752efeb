import * as fs from "node:fs";
import { sep } from "node:path";
import { idOfName } from "../layout.js";

/** A rollout as its name tells it; nothing was opened. */
export interface RolloutName {
  readonly id: string;
  readonly path: string;
}

/** The rollouts below a directory, in whatever layouts they lie there. A directory that does not exist has none. */
export async function rolloutsIn(directory: string): Promise<RolloutName[]> {
  const walking = walk(directory);
  let step = walking.next();
  while (step.done !== true) step = walking.next(await namesIn(step.value, step.value === directory));
  return step.value;
}

/** The same for a command that does nothing else; `visit` hears of each folder before it is read, and what is in it. */
export function rolloutsInSync(directory: string, visit: FolderVisit = readOnly): RolloutName[] {
  const walking = walk(directory);
  let step = walking.next();
  while (step.done !== true) {
    const folder = step.value;
    step = walking.next(visit(folder, () => namesInSync(folder, folder === directory)));
  }
  return step.value;
}

export type FolderVisit = (folder: string, names: () => readonly string[]) => readonly string[];

const readOnly: FolderVisit = (_, names) => names();

const year = /^\d{4}$/;
const monthOrDay = /^\d\d$/;

/**
 * Asks for the names in one directory after another: flat files, those in the folders of projects, and those in
 * Codex's `YYYY/MM/DD`. Of two files of one conversation the one with the later name counts: when turns are taken back
 * Codex goes on in a new file.
 */
function* walk(root: string): Generator<string, RolloutName[], readonly string[]> {
  const found = new Map<string, { id: string; name: string; path: string }>();
  const take = (folder: string, names: readonly string[]): void => {
    for (const name of names) {
      const id = idOfName(name);
      if (id === undefined) continue;
      const before = found.get(id);
      // Not `join`, which takes longer than all the rest.
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

/** What stands beside rollouts, locks and torn lines, has their name in its own; so has no folder we make. */
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

/** Below the directory there may be anything; only the directory itself must be readable if it is there. */
function isNone({ code }: NodeJS.ErrnoException, isRoot: boolean): boolean {
  return code === "ENOENT" || !isRoot;
}
