import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { storeName, type StoreName } from "./store-names.js";

export type StoreEntry =
  | { readonly kind: Exclude<StoreName, "foreign"> | "folder"; readonly name: string; readonly path: string }
  | { readonly kind: "unreadable_folder"; readonly path: string; readonly error: unknown };

type Folder = "root" | "project" | "year" | "month" | "day";

/**
 * Everything of cody's that lies where rollouts may lie, in the order of its names: flat, in the folders of projects,
 * and in Codex's `YYYY/MM/DD`. Other than a list it has every file, also the older ones of one conversation.
 */
export async function* storeEntries(directory: string): AsyncGenerator<StoreEntry> {
  yield* entriesIn(directory, "root");
}

async function* entriesIn(directory: string, folder: Folder): AsyncGenerator<StoreEntry> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => error);
  if (names instanceof Error) {
    // Below the directory there may be files of any name.
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

const year = /^\d{4}$/;
const monthOrDay = /^\d\d$/;

/** What a folder of this name is there, if rollouts may lie in it. */
const folderBelow: Readonly<Record<Folder, (name: string) => Folder | undefined>> = {
  root: (name) => (year.test(name) ? "year" : "project"),
  year: (name) => (monthOrDay.test(name) ? "month" : undefined),
  month: (name) => (monthOrDay.test(name) ? "day" : undefined),
  project: () => undefined,
  day: () => undefined,
};
