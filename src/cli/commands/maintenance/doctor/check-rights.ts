import type { Stats } from "node:fs";
import type { StoreFinding } from "./finding.js";

/**
 * `ours`: must be private to this user. `chosen`: made by others or the user, so it only must not be world-writable.
 */
export type Ownership = "ours" | "chosen";

const readableByOthers = 0o044;
const writableByOthers = 0o022;
const writableByEverybody = 0o002;
const sticky = 0o1000;

export interface RightsInput {
  readonly path: string;
  readonly stats: Stats;
  /** The current user. */
  readonly uid: number;
  readonly ownership: Ownership;
}

/** Checks that a file or folder belongs to the current user and to nobody else. */
export function checkRights({ path, stats, uid, ownership }: RightsInput): StoreFinding[] {
  if (stats.uid !== uid) return [{ kind: "foreign_owner", path, uid: stats.uid }];
  const others = ownership === "ours" ? rightsOfOthers(stats.mode) : rightsOfEverybody(stats.mode);
  if (others === undefined) return [];
  const remedy = ownership === "chosen" ? "o-w" : stats.isDirectory() ? "700" : "600";
  return [{ kind: "exposed", path, mode: (stats.mode & 0o777).toString(8), others, remedy }];
}

function rightsOfOthers(mode: number): string | undefined {
  const verbs = [mode & readableByOthers ? "read" : "", mode & writableByOthers ? "change" : ""];
  return verbs.filter((verb) => verb !== "").join(" and ") || undefined;
}

/** In a sticky folder everybody may create files, but change only their own. */
function rightsOfEverybody(mode: number): string | undefined {
  return mode & writableByEverybody && !(mode & sticky) ? "change" : undefined;
}
