import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { ChangeRecord, KeptVersion } from "../../messages/change-record.js";
import type { FileVersion } from "../changed-file.js";
import { ContentStore, hashOf } from "../workspace/content-store.js";
import { bytesAt } from "../workspace/take-tree.js";
import { fileAt, type FoundFile } from "../workspace/walk.js";
import type { Obstacle } from "./obstacle.js";

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
}

/** What would have to be done to make the files what they were before a change. Nothing is done. */
export function planRestore({ root, files }: ChangeRecord, folder: string): RestorePlan {
  if (realOf(root) !== root)
    return { root, steps: files.map(({ path }) => ({ ...unknown, path, obstacle: "blocked" })) };
  const store = new ContentStore(folder);
  const leaving = new Set(files.filter(({ before }) => before === null).map(({ path }) => path));
  const steps = files.flatMap(({ path, before, after }): RestoreStep[] => {
    const way = wayTo(root, path, leaving);
    if (way === "blocked") return [{ ...unknown, path, obstacle: "blocked" }];
    const found = way === "free" ? fileAt(root, path) : undefined;
    const current = found && versionOf(root, found);
    const target = before === null ? undefined : targetOf(store, before, after, current);
    if (isSame(current, before)) return [];
    const step = { path, current, stamp: found?.stamp, target };
    if (before !== null && target === undefined) return [{ ...step, obstacle: "not_kept" }];
    return [isSame(current, after) ? step : { ...step, obstacle: "changed" }];
  });
  return { root, steps };
}

const unknown = { current: undefined, stamp: undefined, target: undefined };

/**
 * A record could be anybody's: nothing in it leads out of its folder, into a repository, or through a link. A link that
 * is itself to go has nothing behind it.
 */
function wayTo(root: string, path: string, leaving: ReadonlySet<string>): "free" | "blocked" | "leaving" {
  const names = path.split("/");
  if (names.some((name) => ["", ".", "..", ".git"].includes(name) || name.includes("\0"))) return "blocked";
  const parents = names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
  const link = parents.find((parent) => isLink(join(root, parent)));
  if (link === undefined) return "free";
  return leaving.has(link) ? "leaving" : "blocked";
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

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
