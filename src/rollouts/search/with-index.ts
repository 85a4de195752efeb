import { systemProblem } from "../../base/system-error.js";
import { existsSync } from "node:fs";
import { ConversationIndex } from "./conversation-index.js";
import {
  NewerIndexError,
  openIndexFile,
  removeIndexFile,
  loadLibsql,
  type LoadSql,
  type OpenSql,
} from "./index-file.js";

/** The result, or the reason why the index could not be used. */
export type IndexOutcome<T> =
  | { readonly status: "used"; readonly value: T }
  | { readonly status: "missing" | "newer" | "in_use" | "failed"; readonly reason: string };

interface IndexOptions {
  readonly path: string;
  readonly load?: LoadSql;
}

/**
 * Runs `work` with the index. Because the index is only a cache, failures are returned instead of thrown, so that the
 * caller can search the files instead. A damaged index is rebuilt.
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

/** Removes deleted conversations from the index; returns whether nothing of them is left. */
export async function forgetIndexed(path: string, ids: readonly string[], load?: LoadSql): Promise<boolean> {
  if (!existsSync(path)) return true;
  const outcome = await withIndex({ path, ...(load === undefined ? {} : { load }) }, (index) => index.forget(ids));
  if (outcome.status === "used") return true;
  if (outcome.status !== "missing") return false;
  // Without the library the entries cannot be removed, but other programs could read them, so the file is deleted.
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
    // Database and file system errors have a code; anything else is a bug.
    if (!(error instanceof Error) || !("code" in error)) throw error;
    const code = String(error.code);
    const reason = systemProblem(error)?.message ?? error.message;
    if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return { status: "in_use", reason: "another process is using it" };
    // An error in one of our statements means that the tables are not as expected.
    return { status: "failed", reason, isDamaged: /^SQLITE_(?:NOTADB|CORRUPT|ERROR|CONSTRAINT|MISMATCH)/.test(code) };
  }
}
