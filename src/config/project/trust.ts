import { readFile, realpath } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { withFileLock } from "../file-lock.js";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { homePaths } from "../paths.js";
import { findProjectRoot } from "./project.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

/** What the user has said of a project; of most they have said nothing. */
export type TrustLevel = "trusted" | "untrusted";

/** What was said, by the real paths of projects; a damaged file trusts nobody. */
export async function readTrust(home: string): Promise<ReadonlyMap<string, TrustLevel>> {
  try {
    const value: unknown = JSON.parse(await readFile(homePaths(home).trust, "utf8"));
    const entries = Object.entries(Object(value) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, TrustLevel] => isAbsolute(entry[0]) && isLevel(entry[1])));
  } catch {
    return new Map();
  }
}

/** Says what is thought of a project from now on; undefined takes back what was said. */
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

/** The project a folder belongs to, by its real path: a link must not lend its name to another folder. */
export async function realProjectRoot(cwd: string): Promise<string> {
  return await findProjectRoot(await realpath(cwd).catch(() => cwd));
}

/** Whether the user trusts the project at this root, which must be a real path. */
export async function isTrustedRoot(home: string, root: string): Promise<boolean> {
  return (await readTrust(home)).get(root) === "trusted";
}

function isLevel(value: unknown): value is TrustLevel {
  return value === "trusted" || value === "untrusted";
}
