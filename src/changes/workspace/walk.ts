import { type BigIntStats, lstatSync, readdirSync, rmSync } from "node:fs";
import { join, basename } from "node:path";
import { isUtf8 } from "node:buffer";
import { temporaryKind, isStaleTemporary } from "../../tools/files/temporary-name.js";
import { IgnoreRules, type ReadRules } from "../../tools/search/ignore-rules.js";
import type { FileMode } from "../changed-file.js";
import { hashOf } from "./content-store.js";

const megabyte = 1_000_000;

export const defaultLimits: WorkspaceLimits = {
  maxFiles: 20_000,
  maxEntries: 100_000,
  maxBytes: 200 * megabyte,
  maxFileBytes: 8 * megabyte,
};

/** A file of a workspace, not read yet. */
export interface FoundFile {
  readonly path: string;
  readonly mode: FileMode;
  /** Absent for links. */
  readonly permissions?: number;
  readonly size: number;
  /** Stays the same as long as nobody touches the file. */
  readonly stamp: string;
  readonly touchedMs: number;
  /** The name is not valid UTF-8, so the path is for display only. */
  readonly isOdd?: true;
}

/** A folder that git does not ignore, with its permissions. */
export interface FoundFolder {
  readonly path: string;
  readonly permissions: number;
}

export interface Walk {
  readonly root: string;
  /** Folders inside the workspace that are not part of it, such as cody's own. */
  readonly outside: readonly string[];
  readonly limits: WorkspaceLimits;
  /** Files that contain one of these secrets are not stored. */
  readonly secrets: readonly string[];
  /** Reads the ignore rules; set where they differ from the current `.gitignore` files. */
  readonly readRules?: ReadRules;
  /** Ignore rules outside of `.gitignore` files; later ones take precedence. */
  readonly excludes?: readonly string[];
  /** Called with the path of each temporary file of a replacement; these are not part of the workspace. */
  readonly onStray?: (path: string) => void;
  readonly onFolder?: (folder: FoundFolder) => void;
}

const anyExecute = 0o111n;
const permissionBits = 0o777n;

/** Lists every file that git does not ignore, ordered by path; throws when a limit is exceeded. */
export function walk({ root, outside, limits, readRules, excludes, onStray, onFolder }: Walk): FoundFile[] {
  const found: FoundFile[] = [];
  let entries = 0;
  let bytes = 0;
  const count = (): void => {
    entries += 1;
    if (entries > limits.maxEntries) throw tooManyFiles(limits, found.length);
  };
  const enter = (folder: string, rules: IgnoreRules): void => {
    const within = folder === "" ? "" : `${folder}/`;
    const all = entriesIn(join(root, folder));
    const names = all.map(({ name }) => name);
    for (const { name, isFolder, stamp } of specialEntries(join(root, folder), names, count)) {
      if (rules.ignores(within + name, name, isFolder)) continue;
      found.push({ path: within + name, mode: "100644", size: 0, stamp, touchedMs: 0, isOdd: true });
    }
    for (const entry of all) {
      count();
      const path = within + entry.name;
      if (temporaryKind(entry.name) !== undefined && !entry.isDirectory()) {
        onStray?.(path);
        continue;
      }
      if (rules.ignores(path, entry.name, entry.isDirectory())) continue;
      if (entry.isDirectory()) {
        if (outside.includes(join(root, path))) continue;
        const inner = onFolder && folderAt(root, path);
        if (inner !== undefined) onFolder?.(inner);
        enter(path, rules.within(root, path));
        continue;
      }
      const file = fileAt(root, path);
      if (file === undefined) continue;
      found.push(file);
      bytes += file.size > limits.maxFileBytes ? 0 : file.size;
      if (found.length > limits.maxFiles) throw tooManyFiles(limits, found.length);
      if (bytes > limits.maxBytes) throw tooManyBytes(limits);
    }
  };
  enter("", IgnoreRules.of(root, readRules, excludes));
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns undefined where there is not a regular file or link. */
export function fileAt(root: string, path: string): FoundFile | undefined {
  try {
    const stats = lstatSync(join(root, path), { bigint: true });
    const mode = modeOf(stats);
    const size = Number(stats.size);
    return mode && { path, mode, ...permissionsOf(stats), size, stamp: stampOf(stats), touchedMs: touchedMs(stats) };
  } catch {
    return undefined;
  }
}

/** Returns undefined where there is no folder. */
export function folderAt(root: string, path: string): FoundFolder | undefined {
  const stats = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() === true ? { path, permissions: Number(stats.mode & permissionBits) } : undefined;
}

/** An unreadable or removed folder contains nothing to track. */
function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function modeOf(stats: BigIntStats): FileMode | undefined {
  if (stats.isSymbolicLink()) return "120000";
  if (!stats.isFile()) return undefined;
  return (stats.mode & anyExecute) === 0n ? "100644" : "100755";
}

function permissionsOf(stats: BigIntStats): Pick<FoundFile, "permissions"> {
  return stats.isSymbolicLink() ? {} : { permissions: Number(stats.mode & permissionBits) };
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

function touchedMs({ mtimeMs, ctimeMs }: BigIntStats): number {
  return Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs);
}

/**
 * An entry whose name is not valid UTF-8. No path, diff or record can hold it, so only the fact that it changed is
 * known.
 */
interface OddEntry {
  /** The name with non-ASCII bytes escaped as git does. */
  readonly name: string;
  readonly isFolder: boolean;
  /** Stays the same as long as nobody touches the entry or anything in it. */
  readonly stamp: string;
}

/** Returns the entries whose names are not valid UTF-8; `count` is called for each entry inside them. */
function specialEntries(folder: string, names: readonly string[], count: () => void): OddEntry[] {
  // Decoding replaces invalid bytes with this character.
  if (!names.some((name) => name.includes("\uFFFD"))) return [];
  return namesIn(Buffer.from(folder))
    .filter((name) => !isUtf8(name))
    .flatMap((name) => {
      const stats = statsOf(inside(Buffer.from(folder), name));
      if (stats === undefined) return [];
      const stamp = stampWithin(inside(Buffer.from(folder), name), stats, count);
      return [{ name: asciiName(name), isFolder: stats.isDirectory(), stamp }];
    });
}

function stampWithin(path: Buffer, stats: BigIntStats, count: () => void): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  const own = [dev, ino, size, mtimeNs, ctimeNs].join(":");
  if (!stats.isDirectory()) return own;
  const inner = namesIn(path).map((name) => {
    count();
    const found = statsOf(inside(path, name));
    return found === undefined ? "" : stampWithin(inside(path, name), found, count);
  });
  return hashOf(Buffer.from([own, ...inner].join("\n")));
}

function namesIn(folder: Buffer): Buffer[] {
  try {
    return readdirSync(folder, { encoding: "buffer" }).toSorted((a, b) => Buffer.compare(a, b));
  } catch {
    return [];
  }
}

function statsOf(path: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function inside(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}

function asciiName(name: Buffer): string {
  return Array.from(name, shownByte).join("");
}

function shownByte(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
}

/** Limits of change tracking in a workspace. */
export interface WorkspaceLimits {
  /** A workspace with more files or directory entries is not tracked at all. */
  readonly maxFiles: number;
  readonly maxEntries: number;
  /** Maximum total size of the workspace's files. */
  readonly maxBytes: number;
  /** For larger files only the fact that they changed is recorded. */
  readonly maxFileBytes: number;
}

/** Explains to the user why a workspace is not tracked. */
export class UntrackedError extends Error {
  override readonly name = "UntrackedError";
}

function tooManyFiles({ maxFiles, maxEntries }: WorkspaceLimits, files: number): UntrackedError {
  const most = files > maxFiles ? `${maxFiles} files` : `${maxEntries} files and folders`;
  return new UntrackedError(`the folder has more than ${most} that git does not ignore`);
}

function tooManyBytes({ maxBytes }: WorkspaceLimits): UntrackedError {
  return new UntrackedError(
    `the files of the folder that git does not ignore are larger than ${maxBytes / megabyte} MB`,
  );
}

/**
 * A file left by a process that died while replacing another file. A "last_copy" is the only copy of a content and
 * must stay.
 */
type Leftover = "litter" | "last_copy";

/** Returns undefined when the file is not a leftover, because the process that created it may still need it. */
export function leftoverKind(path: string, now: number): Leftover | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const name = basename(path);
  if (stats === undefined || !isStaleTemporary(name, stats.ctimeMs, now)) return undefined;
  return temporaryKind(name) === "old" && stats.isFile() && stats.nlink === 1 ? "last_copy" : "litter";
}

/** Removes the file if it is litter. */
export function removeLitter(path: string, now: number): void {
  try {
    if (leftoverKind(path, now) === "litter") rmSync(path, { force: true });
  } catch {
    // A leftover file is harmless.
  }
}
