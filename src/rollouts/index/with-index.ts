import { systemProblem } from "../../base/system-error.js";
import { existsSync } from "node:fs";
import { ConversationIndex } from "./conversation-index.js";
import { NewerIndexError, openIndexFile, removeIndexFile } from "./index-file.js";
import { loadLibsql, type LoadSql, type OpenSql } from "./sql.js";

/** What came of it, or why the index could not be used. */
export type IndexOutcome<T> =
  | { readonly status: "used"; readonly value: T }
  | { readonly status: "missing" | "newer" | "in_use" | "failed"; readonly reason: string };

export interface IndexOptions {
  readonly path: string;
  readonly load?: LoadSql;
}

/**
 * Does something with the index, which is only a copy: whatever goes wrong with it is told and not thrown, so that
 * whoever asked can look into the files instead. One that is damaged is made anew.
 */
export async function withIndex<T>(
  { path, load = loadLibsql }: IndexOptions,
  work: (index: ConversationIndex) => T,
): Promise<IndexOutcome<T>> {
  const open = await load();
  if (open === undefined) return { status: "missing", reason: "libsql is not installed" };
  const first = attempt(open, path, work);
  if (first.status !== "failed" || !first.isDamaged) return first;
  try {
    removeIndexFile(path);
  } catch {
    return first;
  }
  return attempt(open, path, work);
}

/** Drops all that is known of some conversations, whose files are gone. Says whether nothing of them is left. */
export async function forgetIndexed(path: string, ids: readonly string[], load?: LoadSql): Promise<boolean> {
  if (!existsSync(path)) return true;
  const outcome = await withIndex({ path, ...(load === undefined ? {} : { load }) }, (index) => index.forget(ids));
  if (outcome.status === "used") return true;
  if (outcome.status !== "missing") return false;
  // Nobody here can read it, but somebody else could.
  removeIndexFile(path);
  return true;
}

type Attempt<T> = IndexOutcome<T> & { readonly isDamaged?: boolean };

function attempt<T>(open: OpenSql, path: string, work: (index: ConversationIndex) => T): Attempt<T> {
  try {
    const database = openIndexFile(open, path);
    try {
      return { status: "used", value: work(new ConversationIndex(database)) };
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof NewerIndexError) return { status: "newer", reason: error.message };
    // The database and the disk say what went wrong by a code; anything else is a mistake of ours.
    if (!(error instanceof Error) || !("code" in error)) throw error;
    const code = String(error.code);
    const reason = systemProblem(error)?.message ?? error.message;
    if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return { status: "in_use", reason: "another process has it" };
    // An error in a statement of ours means that the tables are not what they should be.
    return { status: "failed", reason, isDamaged: /^SQLITE_(?:NOTADB|CORRUPT|ERROR|CONSTRAINT|MISMATCH)/.test(code) };
  }
}
