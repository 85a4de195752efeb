import { access, constants, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

/** Commands that POSIX shells run themselves without looking for a file, and that change nothing for later ones. */
const builtins: ReadonlySet<string> = new Set(["echo", "true", "false", "test", "pwd", "exit", ":", "kill", "times"]);

export interface ProgramPlaces {
  /** The folder that the command runs in, as a real path. */
  readonly cwd: string;
  /** The value of PATH that the command gets. */
  readonly path: string;
  /** Folders in which others than the user may put programs: the workspace and temporary folders, as real paths. */
  readonly unsafe: readonly string[];
  /**
   * The programs that were found for the same decision. Never kept longer: a file that appears in PATH afterwards must
   * not run under a rule for another one.
   */
  readonly known?: Map<string, Promise<Program>>;
}

/**
 * Identifies the program that a shell runs for a name. Two names are equal only if they run the same file under the
 * same name, because some files behave differently under each of their names.
 */
export type Program =
  | { readonly type: "builtin"; readonly name: string }
  /** A file found through PATH outside of every unsafe folder. */
  | { readonly type: "installed"; readonly path: string }
  /** A file named by its path. */
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "unknown"; readonly reason: string };

/** Finds the program as `execvp` and POSIX shells do. Without `inShell` there are no builtins. */
export async function findProgram(name: string, places: ProgramPlaces, inShell: boolean): Promise<Program> {
  const { cwd, path, unsafe, known = new Map<string, Promise<Program>>() } = places;
  const key = JSON.stringify([name, inShell, cwd, path, unsafe]);
  const found = known.get(key) ?? search(name, places, inShell);
  known.set(key, found);
  return await found;
}

async function search(name: string, places: ProgramPlaces, inShell: boolean): Promise<Program> {
  if (name.includes("/")) {
    const path = await namedPath(resolve(places.cwd, name));
    return path === undefined ? unknown(`${name} does not exist`) : { type: "file", path };
  }
  if (inShell && builtins.has(name)) return { type: "builtin", name };
  for (const folder of places.path.split(":")) {
    // Such an entry means the current folder.
    if (!isAbsolute(folder)) return unknown("PATH has a relative entry");
    const found = join(folder, name);
    if (!(await isExecutable(found))) continue;
    const [path, real] = await Promise.all([namedPath(found), realpath(found).catch(() => undefined)]);
    if (path === undefined || real === undefined) return unknown(`${found} disappeared`);
    const shadow = [path, real, found].find((at) => places.unsafe.some((unsafe) => `${at}/`.startsWith(`${unsafe}/`)));
    return shadow === undefined ? { type: "installed", path } : unknown(`${name} is ${shadow}, inside the workspace`);
  }
  return unknown(`${name} is not in PATH`);
}

/** The path with the links in its folder resolved, but not the file itself. */
async function namedPath(path: string): Promise<string | undefined> {
  try {
    await stat(path);
    return join(await realpath(dirname(path)), basename(path));
  } catch {
    return undefined;
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function unknown(reason: string): Program {
  return { type: "unknown", reason };
}
