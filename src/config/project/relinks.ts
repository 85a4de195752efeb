import { readFile } from "node:fs/promises";
import { isAbsolute, sep } from "node:path";
import { withFileLock } from "../file-lock.js";
import { homePaths } from "../paths.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

/** A folder that was moved with everything below it. */
export interface Relink {
  readonly from: string;
  readonly to: string;
}

/** The recorded moves, oldest first; empty if the file is damaged. */
export async function readRelinks(home: string): Promise<Relink[]> {
  try {
    const value: unknown = JSON.parse(await readFile(homePaths(home).relinks, "utf8"));
    return Array.isArray(value) ? value.filter(isRelink) : [];
  } catch {
    return [];
  }
}

/** Records that a folder moved. Earlier records for the old and for the new location are removed. */
export async function addRelink(home: string, { from, to }: Relink): Promise<void> {
  const path = homePaths(home).relinks;
  await withFileLock(`${path}.lock`, async () => {
    const others = (await readRelinks(home)).filter((relink) => relink.from !== from && relink.from !== to);
    await writeAtomic(path, `${JSON.stringify([...others, { from, to }], undefined, 2)}\n`);
  });
}

/** Resolves the current location of a folder. Follows each record once, because two may point at each other. */
export function relinked(folder: string, relinks: readonly Relink[]): string {
  const rest = new Set(relinks);
  let at = folder;
  for (let next = nearest(at, rest); next !== undefined; next = nearest(at, rest)) {
    rest.delete(next);
    at = next.to + at.slice(next.from.length);
  }
  return at;
}

/** The record for the folder itself, else for its nearest ancestor. */
function nearest(folder: string, relinks: ReadonlySet<Relink>): Relink | undefined {
  const above = [...relinks].filter(({ from }) => folder === from || folder.startsWith(from + sep));
  return above.toSorted((a, b) => b.from.length - a.from.length)[0];
}

function isRelink(value: unknown): value is Relink {
  if (typeof value !== "object" || value === null || !("from" in value) || !("to" in value)) return false;
  return [value.from, value.to].every((path) => typeof path === "string" && isAbsolute(path));
}
