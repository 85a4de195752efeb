import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { ChangeRecord, KeptVersion } from "../../messages/change-record.js";
import type { FileVersion } from "../changed-file.js";
import { ContentStore, hashOf } from "../workspace/content-store.js";
import { bytesAt } from "../workspace/take-tree.js";
import type { FoundFile } from "../workspace/walk.js";
import { changedFolders, type FolderStep, folderSteps } from "./folder-steps.js";
import type { Obstacle } from "./obstacle.js";
import { Standing } from "./standing.js";

const ownerOnly = 0o600;
const readBits = 0o444;
const executeBits = 0o111;

/** A file that is there or is to be, with who may do what with it. */
export interface PermittedVersion extends FileVersion {
  /** Absent for a link. */
  readonly permissions?: number;
}

/** A file as it is, and as it is to become; undefined for none. */
export interface RestoreStep {
  readonly path: string;
  readonly current: PermittedVersion | undefined;
  /** As it was found; whoever has touched it since has another. */
  readonly stamp: string | undefined;
  readonly target: PermittedVersion | undefined;
  readonly obstacle?: Obstacle;
}

export interface RestorePlan {
  readonly root: string;
  /** Of the files that are not what they were before the change. */
  readonly steps: readonly RestoreStep[];
  /** The folders the change removed, and those it made: these go when nothing is left in them. */
  readonly folders: readonly FolderStep[];
  /** Folders the change made in which more will be left, each the innermost. */
  readonly staying: readonly string[];
}

/** What would have to be done to make the files what they were before a change. Nothing is done. */
export function planRestore(record: ChangeRecord, folder: string): RestorePlan {
  const { root, files } = record;
  if (realOf(root) !== root) {
    const steps = files.map(({ path }) => ({ ...unknown, path, obstacle: "no_root" as const }));
    return { root, steps, folders: [], staying: [] };
  }
  const store = new ContentStore(folder);
  const changed = changedFolders(record);
  const standing = new Standing(root, { files: newPaths(files), folders: newPaths(changed) });
  const steps = files.flatMap(({ path, before, after }): RestoreStep[] => {
    const found = standing.at(path);
    // A file that the change made and that is gone is as it was, whatever else is there now.
    if (found.is === "other" && before === null) return [];
    if (found.is === "other" || found.is === "elsewhere") return [{ ...unknown, path, obstacle: "blocked" }];
    const file = found.is === "file" ? found.file : undefined;
    const current = file && versionOf(root, file);
    const target = before === null ? undefined : targetOf(store, before, after, current);
    if (isSame(current, before)) return [];
    const step = { path, current, stamp: file?.stamp, target };
    if (before !== null && target === undefined) return [{ ...step, obstacle: "not_kept" }];
    return [isSame(current, after) ? step : { ...step, obstacle: "changed" }];
  });
  const folders = folderSteps(root, changed, standing);
  const left = folders.filter(({ path, target }) => target === null && !standing.goes(path)).map(({ path }) => path);
  const staying = left.filter((path) => !left.some((other) => other.startsWith(`${path}/`)));
  return { root, steps, folders, staying };
}

function newPaths(all: readonly { readonly path: string; readonly before: unknown }[]): ReadonlySet<string> {
  return new Set(all.filter(({ before }) => before === null).map(({ path }) => path));
}

const unknown = { current: undefined, stamp: undefined, target: undefined };

function realOf(root: string): string | undefined {
  try {
    return realpathSync(root);
  } catch {
    return undefined;
  }
}

function versionOf(root: string, { path, mode, permissions }: FoundFile): PermittedVersion {
  const bytes = bytesAt(join(root, path), mode);
  return permissions === undefined ? { mode, bytes } : { mode, permissions, bytes };
}

function targetOf(
  store: ContentStore,
  before: KeptVersion,
  after: KeptVersion | null,
  current: PermittedVersion | undefined,
): PermittedVersion | undefined {
  const { mode, sha256 } = before;
  const bytes = store.get(sha256);
  if (bytes === undefined || mode === "120000") return bytes && { mode, bytes };
  return { mode, permissions: permissionsFor(before, after, current), bytes };
}

/** As they were, unless somebody has changed them since; of what nobody knows, no more than its owner needs. */
function permissionsFor(before: KeptVersion, after: KeptVersion | null, current: PermittedVersion | undefined): number {
  const now = current?.permissions;
  const isAsLeft = now === undefined || now === after?.permissions;
  if (before.permissions !== undefined && isAsLeft) return before.permissions;
  const known = now ?? ownerOnly;
  return before.mode === "100755" ? known | ((known & readBits) >> 2) : known & ~executeBits;
}

function isSame(version: FileVersion | undefined, kept: KeptVersion | null): boolean {
  if (version === undefined || kept === null) return version === undefined && kept === null;
  return version.mode === kept.mode && hashOf(version.bytes) === kept.sha256;
}
