import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { ChangeRecord, KeptVersion } from "../../messages/tools/change-record.js";
import type { FileVersion } from "../changed-file.js";
import type { NumberedRecord } from "../workspace/change-folder.js";
import { ContentStore, hashOf } from "../workspace/content-store.js";
import { bytesAt } from "../workspace/tree.js";
import type { FoundFile } from "../workspace/walk.js";
import { changedFolders, type FolderStep, folderSteps, FolderState } from "./folder-state.js";
import type { Obstacle } from "./obstacle.js";

const ownerOnly = 0o600;
const readBits = 0o444;
const executeBits = 0o111;

/** A file version with its permissions. */
export interface PermittedVersion extends FileVersion {
  /** Absent for links. */
  readonly permissions?: number;
}

/** A file's current and target version; undefined where the file does not exist. */
export interface RestoreStep {
  readonly path: string;
  readonly current: PermittedVersion | undefined;
  /** Stamp at planning time; a different stamp later means that the file was touched since. */
  readonly stamp: string | undefined;
  readonly target: PermittedVersion | undefined;
  readonly obstacle?: Obstacle;
}

export interface RestorePlan {
  readonly root: string;
  /** The files that differ from their state before the change. */
  readonly steps: readonly RestoreStep[];
  /** The folders the change removed, and the ones it created, which are removed again if they end up empty. */
  readonly folders: readonly FolderStep[];
  /** The innermost folders created by the change that will not end up empty. */
  readonly staying: readonly string[];
}

/** Plans how to restore the files to their state before a change, without touching anything. */
export function planRestore(record: ChangeRecord, folder: string): RestorePlan {
  const { root, files } = record;
  if (realOf(root) !== root) {
    const steps = files.map(({ path }) => ({ ...unknown, path, obstacle: "no_root" as const }));
    return { root, steps, folders: [], staying: [] };
  }
  const store = new ContentStore(folder);
  const changed = changedFolders(record);
  const folderState = new FolderState(root, { files: newPaths(files), folders: newPaths(changed) });
  const steps = files.flatMap(({ path, before, after }): RestoreStep[] => {
    const found = folderState.at(path);
    // A file that the change created and that is gone needs no step, whatever is at its path now.
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
  const folders = folderSteps(root, changed, folderState);
  const left = folders.filter(({ path, target }) => target === null && !folderState.goes(path)).map(({ path }) => path);
  const remaining = left.filter((path) => !left.some((other) => other.startsWith(`${path}/`)));
  return { root, steps, folders, staying: remaining };
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

/** Returns the earlier permissions unless they were changed since; unknown ones default to what the owner needs. */
function permissionsFor(before: KeptVersion, after: KeptVersion | null, current: PermittedVersion | undefined): number {
  const now = current?.permissions;
  const isAsLeft = now === undefined || now === after?.permissions;
  if (before.permissions !== undefined && isAsLeft) return before.permissions;
  const known = now ?? ownerOnly;
  return before.mode === "100755" ? known | ((known & readBits) >> 2) : known & ~executeBits;
}

function isSame(version: FileVersion | undefined, stored: KeptVersion | null): boolean {
  if (version === undefined || stored === null) return version === undefined && stored === null;
  return version.mode === stored.mode && hashOf(version.bytes) === stored.sha256;
}

interface ChosenRecord {
  readonly record: NumberedRecord;
  readonly plan: RestorePlan;
}

/**
 * Chooses the change to undo and plans the restore: the last matching change that is not undone yet, or with `again`
 * the last matching change of all.
 */
export function chooseRecord(
  records: readonly NumberedRecord[],
  folder: string,
  isSelected: (record: NumberedRecord) => boolean,
  again = false,
): ChosenRecord | undefined {
  for (const record of records.filter(isSelected).toReversed()) {
    const plan = planRestore(record, folder);
    const isUndone = records.some(({ of }) => of === record.number);
    if (!again && isUndone && plan.steps.every(({ obstacle }) => obstacle !== undefined)) continue;
    return { record, plan };
  }
  return undefined;
}
