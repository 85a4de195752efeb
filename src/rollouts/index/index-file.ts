import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { isRecord } from "../../base/is-record.js";
import type { OpenSql, SqlDatabase } from "./sql.js";

/** Raised when something stands in the tables that older ones have not, or otherwise. */
export const indexVersion = 1;

const busyMs = 1_000;
const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The tables of sessions and messages are for everybody to read; the others are ours. Words are found in `words` by
 * three letters at a time, which finds them wherever they stand, and then in `messages` themselves.
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

/** Written by a cody that knows more than this one: it is left as it is. */
export class NewerIndexError extends Error {
  override readonly name = "NewerIndexError";
}

/** Opens the index, and makes it if there is none or one of an older version. */
export function openIndexFile(open: OpenSql, path: string): SqlDatabase {
  // Conversations may be kept elsewhere, so that nobody has made it yet.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makePrivate(path);
  const database = open(path);
  try {
    // What is deleted is to be gone from the file as well.
    database.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL;`);
    const version = versionOf(database);
    if (version > indexVersion) throw new NewerIndexError(`the index is of a newer version, ${version}`);
    if (version === indexVersion) return database;
    database.exec("BEGIN IMMEDIATE");
    // Another process may have made it meanwhile.
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

/** Before anything is in it. What SQLite puts beside it has the same rights. */
function makePrivate(path: string): void {
  const fd = openSync(path, createFlags, 0o600);
  try {
    if ((fstatSync(fd).mode & 0o777) !== 0o600) chmodSync(path, 0o600);
  } finally {
    closeSync(fd);
  }
}
