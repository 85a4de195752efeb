import { readFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { withFileLock } from "../file-lock.js";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { homePaths } from "../paths.js";
import { findProjectRoots } from "./project-roots.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

/** The user's decision about a project; most projects have none. */
export type TrustLevel = "trusted" | "untrusted";

/** The decisions by the projects' real paths. If the file is damaged, no project is trusted. */
export async function readTrust(home: string): Promise<ReadonlyMap<string, TrustLevel>> {
  try {
    const value: unknown = JSON.parse(await readFile(homePaths(home).trust, "utf8"));
    const entries = Object.entries(Object(value) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, TrustLevel] => isAbsolute(entry[0]) && isLevel(entry[1])));
  } catch {
    return new Map();
  }
}

/** Records the decision about a project; undefined removes it. */
export async function setTrust(home: string, root: string, level: TrustLevel | undefined): Promise<void> {
  const path = homePaths(home).trust;
  await makeDirectory(home);
  await withFileLock(`${path}.lock`, async () => {
    const said = new Map(await readTrust(home));
    said.delete(root);
    if (level !== undefined) said.set(root, level);
    await writeAtomic(path, `${JSON.stringify(Object.fromEntries(said), undefined, 2)}\n`);
  });
}

/** The root of the project that contains a folder, as a real path. */
export async function realProjectRoot(cwd: string): Promise<string> {
  return (await findProjectRoots(cwd)).realRoot;
}

/** Whether the user trusts the project at this root, which must be a real path. */
export async function isTrustedRoot(home: string, root: string): Promise<boolean> {
  return (await readTrust(home)).get(root) === "trusted";
}

function isLevel(value: unknown): value is TrustLevel {
  return value === "trusted" || value === "untrusted";
}
