import { readFile } from "node:fs/promises";
import { isAbsolute, sep } from "node:path";
import { withFileLock } from "../file-lock.js";
import { homePaths } from "../paths.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";

/** A folder that is another now, with all that is below it. */
export interface Relink {
  readonly from: string;
  readonly to: string;
}

/** What was said about folders that are gone, the oldest first; a damaged file says nothing. */
export async function readRelinks(home: string): Promise<Relink[]> {
  try {
    const value: unknown = JSON.parse(await readFile(homePaths(home).relinks, "utf8"));
    return Array.isArray(value) ? value.filter(isRelink) : [];
  } catch {
    return [];
  }
}

/** Says where a folder is now. What was said of it before, and of the new one, no longer holds. */
export async function addRelink(home: string, { from, to }: Relink): Promise<void> {
  const path = homePaths(home).relinks;
  await withFileLock(`${path}.lock`, async () => {
    const others = (await readRelinks(home)).filter((relink) => relink.from !== from && relink.from !== to);
    await writeAtomic(path, `${JSON.stringify([...others, { from, to }], undefined, 2)}\n`);
  });
}

/** Where a folder is now. Each is followed once: two that name one another must not be followed for ever. */
export function relinked(folder: string, relinks: readonly Relink[]): string {
  const rest = new Set(relinks);
  let at = folder;
  for (let next = nearest(at, rest); next !== undefined; next = nearest(at, rest)) {
    rest.delete(next);
    at = next.to + at.slice(next.from.length);
  }
  return at;
}

/** The one for the folder itself, else for the nearest above it. */
function nearest(folder: string, relinks: ReadonlySet<Relink>): Relink | undefined {
  const above = [...relinks].filter(({ from }) => folder === from || folder.startsWith(from + sep));
  return above.toSorted((a, b) => b.from.length - a.from.length)[0];
}

function isRelink(value: unknown): value is Relink {
  if (typeof value !== "object" || value === null || !("from" in value) || !("to" in value)) return false;
  return [value.from, value.to].every((path) => typeof path === "string" && isAbsolute(path));
}
