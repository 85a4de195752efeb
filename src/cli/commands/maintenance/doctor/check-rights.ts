import type { Stats } from "node:fs";
import type { StoreFinding } from "./finding.js";

/** Ours are for us alone; of what others made, or somebody chose, only that not everybody may change it. */
export type Ownership = "ours" | "chosen";

const readableByOthers = 0o044;
const writableByOthers = 0o022;
const writableByEverybody = 0o002;
const sticky = 0o1000;

export interface RightsInput {
  readonly path: string;
  readonly stats: Stats;
  /** Who looks. */
  readonly uid: number;
  readonly ownership: Ownership;
}

/** Whether a file or a folder belongs to who looks, and to nobody else. */
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

/** In a sticky folder everybody may put files, and change only their own. */
function rightsOfEverybody(mode: number): string | undefined {
  return mode & writableByEverybody && !(mode & sticky) ? "change" : undefined;
}
