import type { Stats } from "node:fs";
import { isRecord } from "../../base/is-record.js";
import type { Head } from "./head.js";
import { jsonOrUndefined } from "../../base/parse.js";

/** What one list said about a file, by its name below the directory. */
export interface KnownFile {
  readonly name: string;
  readonly inode: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Absent when nobody has asked for it. */
  readonly head: Head | undefined;
}

/** What must be as it was for the next list to believe the order of the files. */
export interface CacheHeader {
  /** How many files there are. */
  readonly count: number;
  /** The folders by their names below the directory, and when each of them last changed; none when it is not to be believed. */
  readonly folders: readonly (readonly [name: string, mtimeMs: number])[];
  /** The files somebody has open. */
  readonly open: readonly (readonly [name: string, inode: number, size: number, mtimeMs: number])[];
}

const version = 3;

export function headerLine({ count, folders, open }: CacheHeader): string {
  return JSON.stringify({ version, count, folders, open });
}

export function isCacheHeader(line: string | undefined): boolean {
  return line !== undefined && parsedHeader(line) !== undefined;
}

/** None for what no list has written. By hand: loading a schema library would take longer than the list. */
export function parsedHeader(line: string): CacheHeader | undefined {
  const value = jsonOrUndefined(line);
  if (!isRecord(value) || value["version"] !== version) return undefined;
  const { count, folders, open } = value;
  if (typeof count !== "number" || !isTable(folders, 2) || !isTable(open, 4)) return undefined;
  return { count, folders, open } as unknown as CacheHeader;
}

export function lineOf(name: string, stats: Pick<Stats, "ino" | "size" | "mtimeMs">, head: Head | undefined): string {
  return `${startOf(name, stats)}${JSON.stringify(head ?? null)}]`;
}

/** How the line of a file begins that has not changed. */
export function startOf(name: string, { ino, size, mtimeMs }: Pick<Stats, "ino" | "size" | "mtimeMs">): string {
  return `[${JSON.stringify(name)},${ino},${size},${mtimeMs},`;
}

/** None for what no list has written. */
export function knownFile(line: string): KnownFile | undefined {
  const entry = jsonOrUndefined(line);
  if (!Array.isArray(entry)) return undefined;
  const [name, inode, size, mtimeMs, value] = entry as unknown[];
  if (typeof name !== "string" || typeof inode !== "number" || typeof size !== "number") return undefined;
  if (typeof mtimeMs !== "number" || (value !== null && headIn(value) === undefined)) return undefined;
  return { name, inode, size, mtimeMs, head: headIn(value) };
}

/** Only a head's own fields: others would stand in the list beside the file's name and time. */
function headIn(value: unknown): Head | undefined {
  if (!isRecord(value)) return undefined;
  const { createdAt, empty, damaged } = value;
  if (typeof empty !== "boolean" || typeof damaged !== "boolean") return undefined;
  if (createdAt !== undefined && typeof createdAt !== "number") return undefined;
  // Field by field: to spread them takes longer than to parse the line.
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

/** Rows of a name and numbers. */
function isTable(value: unknown, columns: number): boolean {
  return (
    Array.isArray(value) &&
    value.every((row: unknown) => {
      if (!Array.isArray(row) || row.length !== columns || typeof row[0] !== "string") return false;
      return row.slice(1).every((cell) => typeof cell === "number");
    })
  );
}
