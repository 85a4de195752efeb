import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { isRecord } from "../../base/is-record.js";

/** Loaded on demand, because the library is large and optional. */
export const loadLibsql: LoadSql = async () => {
  try {
    const { default: Database } = await import("libsql");
    return (path) => new Database(path) as unknown as SqlDatabase;
  } catch {
    return undefined;
  }
};

/** Increase when the tables or their contents change. */
const indexVersion = 1;

const busyMs = 1_000;
const openFlags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Other programs may read `sessions` and `messages`; the other tables are private. A search first finds candidates in
 * `words` by trigrams, which match anywhere in a text, and then checks `messages`.
 */
const schema = `
  CREATE TABLE sessions(
    id TEXT PRIMARY KEY, started_at TEXT, cwd TEXT, cli_version TEXT, originator TEXT, git_branch TEXT,
    git_commit TEXT, title TEXT, rollout_path TEXT, last_event_at TEXT
  );
  CREATE TABLE messages(
    session_id TEXT, offset INTEGER, role TEXT, kind TEXT, text TEXT, tool_name TEXT, PRIMARY KEY(session_id, offset)
  );
  CREATE TABLE files(
    session_id TEXT PRIMARY KEY, path TEXT, size INTEGER, mtime INTEGER, inode INTEGER, read_to INTEGER, tail TEXT,
    facts TEXT
  );
  CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, tokenize='trigram case_sensitive 1');
  INSERT INTO words(words, rank) VALUES('secure-delete', 1);
  PRAGMA user_version = ${indexVersion};
`;

/** The index was written by a newer version of cody and is left untouched. */
export class NewerIndexError extends Error {
  override readonly name = "NewerIndexError";
}

/** Opens the index; creates it if it is missing or from an older version. */
export function openIndexFile(open: OpenSql, path: string): SqlDatabase {
  // The folder may be missing, because conversations can be stored elsewhere.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makePrivate(path);
  const database = open(path);
  try {
    // Deleted data must be overwritten in the file as well.
    database.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL;`);
    const version = versionOf(database);
    if (version > indexVersion) throw new NewerIndexError(`the index is of a newer version, ${version}`);
    if (version === indexVersion) return database;
    database.exec("BEGIN IMMEDIATE");
    // Another process may have created the tables meanwhile.
    if (versionOf(database) === 0) database.exec(schema);
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function removeIndexFile(path: string): void {
  for (const ending of ["", "-journal", "-wal", "-shm"]) rmSync(path + ending, { force: true });
}

function versionOf(database: SqlDatabase): number {
  const row = database.prepare("PRAGMA user_version").get();
  return isRecord(row) ? Number(row["user_version"]) : 0;
}

/** Restricts access before anything is written; SQLite's side files inherit the permissions. */
function makePrivate(path: string): void {
  const fd = openSync(path, openFlags, 0o600);
  try {
    if ((fstatSync(fd).mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  } finally {
    closeSync(fd);
  }
}

/** The subset of a database that the index uses. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

export interface SqlStatement {
  run(...values: readonly SqlValue[]): { readonly lastInsertRowid: number | bigint };
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

type SqlValue = string | number | bigint | null;

export type OpenSql = (path: string) => SqlDatabase;

/** Returns undefined where no database library is installed. */
export type LoadSql = () => Promise<OpenSql | undefined>;
