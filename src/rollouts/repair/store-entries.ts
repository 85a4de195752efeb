import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { idFromFileName } from "../layout.js";

/** Matches a file beside a rollout by the rollout's name, or by the substitute used beside Codex's rollouts. */
const beside = /(?:.\.jsonl|^\.cody-[0-9a-f]{16})\.(.+)$/;

const headCache = ".heads.json";

const indexes = new Set([".names.jsonl", ".pins.jsonl"]);

const endings: readonly (readonly [pattern: RegExp, name: StoreName])[] = [
  [/^lock(?:\.after\.[0-9a-f]{32})?$/, "lock"],
  [/^(?:lock\.[0-9a-f]{16}|repair|scrub)\.tmp$/, "temporary"],
  [/^(?:torn|backup)-/, "kept"],
  [/^blobs$/, "blobs"],
  [/^snapshots$/, "snapshots"],
];

const year = /^\d{4}$/;
const monthOrDay = /^\d\d$/;

export type StoreEntry =
  | { readonly kind: Exclude<StoreName, "foreign"> | "folder"; readonly name: string; readonly path: string }
  | { readonly kind: "unreadable_folder"; readonly path: string; readonly error: unknown };

type Folder = "root" | "project" | "year" | "month" | "day";

/**
 * Yields every entry of cody where rollouts may be stored, ordered by name: flat, in project folders, and in Codex's
 * `YYYY/MM/DD`. Unlike a list, it includes older files of a conversation too.
 */
export async function* storeEntries(directory: string): AsyncGenerator<StoreEntry> {
  yield* entriesIn(directory, "root");
}

async function* entriesIn(directory: string, folder: Folder): AsyncGenerator<StoreEntry> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => error);
  if (names instanceof Error) {
    // Below the directory there may be files with any name.
    if (names.code !== "ENOENT" && names.code !== "ENOTDIR") {
      yield { kind: "unreadable_folder", path: directory, error: names };
    }
    return;
  }
  if (folder !== "root") yield { kind: "folder", name: "", path: directory };
  for (const name of names.toSorted()) {
    const kind = storeName(name);
    const path = join(directory, name);
    const below = folderBelow[folder](name);
    if (kind !== "foreign") yield { kind, name, path };
    else if (below !== undefined) yield* entriesIn(path, below);
  }
}

/** Returns the kind of a subfolder; undefined if it cannot contain rollouts. */
const folderBelow: Readonly<Record<Folder, (name: string) => Folder | undefined>> = {
  root: (name) => (year.test(name) ? "year" : "project"),
  year: (name) => (monthOrDay.test(name) ? "month" : undefined),
  month: (name) => (monthOrDay.test(name) ? "day" : undefined),
  project: () => undefined,
  day: () => undefined,
};

/** Kind of a file according to its name; files of other programs are foreign. */
type StoreName = "rollout" | "lock" | "temporary" | "kept" | "blobs" | "snapshots" | "cache" | "foreign";

export function storeName(name: string): StoreName {
  if (idFromFileName(name) !== undefined) return "rollout";
  if (name === headCache || indexes.has(name)) return "cache";
  if (/^\.(?:heads\.json|names\.jsonl|pins\.jsonl)\..+\.tmp$/.test(name)) return "temporary";
  const ending = beside.exec(name)?.[1] ?? "";
  return endings.find(([pattern]) => pattern.test(ending))?.[1] ?? "foreign";
}
