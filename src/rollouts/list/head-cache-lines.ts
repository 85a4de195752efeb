import type { Stats } from "node:fs";
import { isRecord } from "../../base/is-record.js";
import type { Head } from "./head.js";
import { jsonOrUndefined } from "../../base/parse.js";

const version = 3;

/** A cached file; the name is relative to the directory. */
export interface KnownFile {
  readonly name: string;
  readonly inode: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Absent when the head has not been read. */
  readonly head: Head | undefined;
}

/** The state that must be unchanged for the next list to trust the order of the files. */
export interface CacheHeader {
  /** Number of files. */
  readonly count: number;
  /** Folder names relative to the directory, with their modification times; empty when they cannot be trusted. */
  readonly folders: readonly (readonly [name: string, mtimeMs: number])[];
  /** The files that are currently open. */
  readonly open: readonly (readonly [name: string, inode: number, size: number, mtimeMs: number])[];
}

/** Time of the last modification in whole milliseconds since 1970. */
export function updatedAt({ mtimeMs }: Pick<Stats, "mtimeMs">): number {
  return Math.floor(mtimeMs);
}

export function headerLine({ count, folders, open }: CacheHeader): string {
  return JSON.stringify({ version, count, folders, open });
}

export function isCacheHeader(line: string | undefined): boolean {
  return line !== undefined && parsedHeader(line) !== undefined;
}

/**
 * Returns undefined for an invalid header. Validates by hand, because loading a schema library takes longer than the
 * list.
 */
export function parsedHeader(line: string): CacheHeader | undefined {
  const value = jsonOrUndefined(line);
  if (!isRecord(value) || value["version"] !== version) return undefined;
  const { count, folders, open } = value;
  if (typeof count !== "number" || !areRows(folders, 2) || !areRows(open, 4)) return undefined;
  return { count, folders, open } as unknown as CacheHeader;
}

export function lineOf(name: string, stats: Pick<Stats, "ino" | "size" | "mtimeMs">, head: Head | undefined): string {
  return `${startOf(name, stats)}${JSON.stringify(head ?? null)}]`;
}

/** Returns the start of the line for an unchanged file. */
export function startOf(name: string, { ino, size, mtimeMs }: Pick<Stats, "ino" | "size" | "mtimeMs">): string {
  return `[${JSON.stringify(name)},${ino},${size},${mtimeMs},`;
}

/** Returns undefined for an invalid line. */
export function knownFile(line: string): KnownFile | undefined {
  const entry = jsonOrUndefined(line);
  if (!Array.isArray(entry)) return undefined;
  const [name, inode, size, mtimeMs, value] = entry as unknown[];
  if (typeof name !== "string" || typeof inode !== "number" || typeof size !== "number") return undefined;
  if (typeof mtimeMs !== "number" || (value !== null && headIn(value) === undefined)) return undefined;
  return { name, inode, size, mtimeMs, head: headIn(value) };
}

/** Copies only the fields of a head, because others would appear in the list beside the file's name and time. */
function headIn(value: unknown): Head | undefined {
  if (!isRecord(value)) return undefined;
  const { createdAt, empty, damaged } = value;
  if (typeof empty !== "boolean" || typeof damaged !== "boolean") return undefined;
  if (createdAt !== undefined && typeof createdAt !== "number") return undefined;
  // Copies field by field, because spreading takes longer than parsing the line.
  const head: { -readonly [Key in keyof Head]: Head[Key] } = { empty, damaged };
  if (createdAt !== undefined) head.createdAt = createdAt;
  for (const key of textKeys) {
    const text = value[key];
    if (typeof text === "string") head[key] = text;
    else if (text !== undefined) return undefined;
  }
  return head;
}

const textKeys = ["provider", "model", "cwd", "gitBranch", "gitCommit", "title"] as const satisfies (keyof Head)[];

/** Whether a value is a list of rows with a name and numbers. */
function areRows(value: unknown, columns: number): boolean {
  return (
    Array.isArray(value) &&
    value.every((row: unknown) => {
      if (!Array.isArray(row) || row.length !== columns || typeof row[0] !== "string") return false;
      return row.slice(1).every((cell) => typeof cell === "number");
    })
  );
}
