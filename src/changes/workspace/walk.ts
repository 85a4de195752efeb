import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isUtf8 } from "node:buffer";
import { strayKind } from "../../tools/files/stray-name.js";
import { IgnoreRules, type ReadRules } from "../../tools/search/ignore-rules.js";
import type { FileMode } from "../changed-file.js";
import { hashOf } from "./content-store.js";
import { tooManyBytes, tooManyFiles, type WorkspaceLimits } from "./limits.js";

/** A file of a workspace as it is found, unread. */
export interface FoundFile {
  readonly path: string;
  readonly mode: FileMode;
  /** Absent for a link. */
  readonly permissions?: number;
  readonly size: number;
  /** The same as long as nobody has touched the file. */
  readonly stamp: string;
  readonly touchedMs: number;
  /** Its name is no UTF-8: the path only shows it, and leads nowhere. */
  readonly isOdd?: true;
}

/** A folder that git does not ignore, and who may do what with it. */
export interface FoundFolder {
  readonly path: string;
  readonly permissions: number;
}

export interface Walk {
  readonly root: string;
  /** Folders that are not part of the workspace though they lie in it, such as our own. */
  readonly outside: readonly string[];
  readonly limits: WorkspaceLimits;
  /** A file that has one of these in it is not kept. */
  readonly secrets: readonly string[];
  /** The rules by which files are ignored, where they are not to be those of now. */
  readonly readRules?: ReadRules;
  /** What is ignored besides, outside of any `.gitignore`; the last counts first. */
  readonly excludes?: readonly string[];
  /** What is put beside a file while it is replaced is no part of the workspace; its path is said here. */
  readonly onStray?: (path: string) => void;
  readonly onFolder?: (folder: FoundFolder) => void;
}

const anyExecute = 0o111n;
const permissionBits = 0o777n;

/** Every file of a workspace git does not ignore, in the order of their paths; throws when they are too many. */
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
    for (const { name, isFolder, stamp } of oddEntries(join(root, folder), names, count)) {
      if (rules.ignores(within + name, name, isFolder)) continue;
      found.push({ path: within + name, mode: "100644", size: 0, stamp, touchedMs: 0, isOdd: true });
    }
    for (const entry of all) {
      count();
      const path = within + entry.name;
      if (strayKind(entry.name) !== undefined && !entry.isDirectory()) {
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

/** One file, or nothing where there is none, or something else. */
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

/** One folder, or nothing where there is none, or something else. */
export function folderAt(root: string, path: string): FoundFolder | undefined {
  const stats = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() === true ? { path, permissions: Number(stats.mode & permissionBits) } : undefined;
}

/** A folder nobody may look into, or that is gone, has nothing we could track. */
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

/** Something whose name is no UTF-8: no path, diff or record can have it, so only whether it has changed is known. */
interface OddEntry {
  /** With what is no ASCII as git writes it. */
  readonly name: string;
  readonly isFolder: boolean;
  /** The same as long as nobody has touched it, or what is in it. */
  readonly stamp: string;
}

/** Those in a folder whose names, read as text, are these; what is in them too is looked at once by `count`. */
function oddEntries(folder: string, names: readonly string[], count: () => void): OddEntry[] {
  // What could not be read in a name has become this character.
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
