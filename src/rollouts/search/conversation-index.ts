import { sep } from "node:path";
import { isRecord } from "../../base/is-record.js";
import type { ConversationFacts, SearchableMessage } from "./conversation-fold.js";
import type { SqlDatabase, SqlStatement } from "./index-file.js";
import { lowercase, WordSearch } from "./match-words.js";
import { readConversation, type ReadMark } from "./read-conversation.js";
import type { SearchHit, RolloutFile } from "./scan.js";

const statements = {
  files: "SELECT session_id, path, size, mtime FROM files",
  mark: "SELECT inode, read_to, tail, facts FROM files WHERE session_id = ?",
  addMessage: "INSERT INTO messages(session_id, offset, role, kind, text, tool_name) VALUES(?, ?, ?, ?, ?, ?)",
  addWords: "INSERT INTO words(rowid, text) VALUES(?, ?)",
  setSession: "INSERT OR REPLACE INTO sessions VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  setFile: "INSERT OR REPLACE INTO files VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
  messages: "SELECT offset, role, kind, text, tool_name FROM messages WHERE session_id = ? ORDER BY offset",
  withWords: "SELECT DISTINCT session_id FROM words JOIN messages ON messages.rowid = words.rowid WHERE words MATCH ?",
  texts: "SELECT rowid AS number, text FROM messages WHERE session_id = ?",
  forgetWords: "INSERT INTO words(words, rowid, text) VALUES('delete', ?, ?)",
  forgetMessages: "DELETE FROM messages WHERE session_id = ?",
  forgetSession: "DELETE FROM sessions WHERE id = ?",
  forgetFile: "DELETE FROM files WHERE session_id = ?",
  counts: "SELECT (SELECT count(*) FROM sessions) AS conversations, (SELECT count(*) FROM messages) AS messages",
} as const;

/** Number of files per transaction; completed ones survive when the process dies. */
const filesInOneGo = 200;
const lettersInOne = 3;

/** All conversations in some directories. */
export interface Library<T extends RolloutFile> {
  readonly directories: readonly string[];
  readonly conversations: readonly T[];
}

/** A database with the messages of conversations; a cache that can be rebuilt from their files. */
export class ConversationIndex {
  readonly #database: SqlDatabase;
  readonly #rows: IndexRows;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#rows = new IndexRows(database);
  }

  /** Returns the conversations whose files changed since they were indexed, and the number of bytes to read. */
  stale<T extends RolloutFile>({ conversations }: Library<T>): { readonly files: T[]; readonly bytes: number } {
    const known = this.#rows.files();
    const files = conversations.filter(({ id, path, size, updatedAt }) => {
      const file = known.get(id);
      return file === undefined || file.path !== path || file.size !== size || file.mtime !== updatedAt;
    });
    const bytes = files.reduce((sum, { id, size }) => sum + Math.max(0, size - (known.get(id)?.size ?? 0)), 0);
    return { files, bytes };
  }

  /** Updates the index: reads changed files from where reading stopped, and removes missing ones. */
  update(library: Library<RolloutFile>): void {
    const { files } = this.stale(library);
    for (let from = 0; from < files.length; from += filesInOneGo) {
      this.#inTransaction(() => {
        for (const file of files.slice(from, from + filesInOneGo)) this.#read(file);
      });
    }
    const present = new Set(library.conversations.map(({ id }) => id));
    const removed = [...this.#rows.files()].filter(
      ([id, { path }]) => !present.has(id) && library.directories.some((directory) => path.startsWith(directory + sep)),
    );
    if (removed.length > 0) this.forget(removed.map(([id]) => id));
  }

  /** Returns the first conversations that contain all words. */
  search<T extends RolloutFile>(conversations: readonly T[], words: readonly string[], limit: number): SearchHit<T>[] {
    const sets = words.flatMap((word) => lettersOf(word)).map((query) => this.#rows.withWords(query));
    const found: SearchHit<T>[] = [];
    for (const conversation of conversations) {
      if (!sets.every((set) => set.has(conversation.id))) continue;
      const search = new WordSearch(words);
      for (const message of this.#rows.messages(conversation.id)) search.add(message);
      const excerpts = search.excerpts();
      if (excerpts !== undefined) found.push({ conversation, excerpts });
      if (found.length === limit) break;
    }
    return found;
  }

  facts<T extends RolloutFile>(conversations: readonly T[]): Map<T, ConversationFacts> {
    return new Map(
      conversations.flatMap((conversation) => {
        const facts = this.#rows.facts(conversation.id);
        return facts === undefined ? [] : [[conversation, facts]];
      }),
    );
  }

  forget(ids: readonly string[]): void {
    this.#inTransaction(() => {
      for (const id of ids) this.#rows.forget(id);
    });
  }

  counts(): ReturnType<IndexRows["counts"]> {
    return this.#rows.counts();
  }

  #read(file: RolloutFile): void {
    const { id } = file;
    try {
      const mark = readConversation(file, {
        before: this.#rows.mark(id),
        onStart: (isContinued) => {
          if (!isContinued) this.#rows.forget(id);
        },
        onMessage: (message) => this.#rows.addMessage(id, message),
      });
      this.#rows.setFile(file, mark);
    } catch (error) {
      // An unreadable file is left out, as in a search of the files themselves.
      if (!isSystemError(error)) throw error;
      this.#rows.forget(id);
    }
  }

  #inTransaction(work: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

/** Builds a query for all trigrams of a word; none for a shorter word. */
function lettersOf(word: string): string[] {
  const letters = Array.from(lowercase(word));
  const threes = letters.slice(lettersInOne - 1).map((_, at) => letters.slice(at, at + lettersInOne).join(""));
  if (threes.length === 0) return [];
  return [[...new Set(threes)].map((three) => `"${three.replaceAll('"', '""')}"`).join(" AND ")];
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** State of a file when it was indexed. */
interface IndexedFile {
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
}

/** Access to the rows of the index; all values are bound, none is interpolated into a statement. */
class IndexRows {
  readonly #statements: Record<keyof typeof statements, SqlStatement>;

  constructor(database: SqlDatabase) {
    const entries = Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]);
    this.#statements = Object.fromEntries(entries) as Record<keyof typeof statements, SqlStatement>;
  }

  files(): Map<string, IndexedFile> {
    const rows = this.#statements.files.all().filter(isRecord);
    return new Map(
      rows.map(({ session_id: id, path, size, mtime }) => [
        String(id),
        { path: String(path), size: Number(size), mtime: Number(mtime) },
      ]),
    );
  }

  mark(id: string): ReadMark | undefined {
    const row = this.#statements.mark.get(id);
    if (!isRecord(row)) return undefined;
    const facts = JSON.parse(String(row["facts"])) as ConversationFacts;
    return { inode: Number(row["inode"]), readTo: Number(row["read_to"]), tail: String(row["tail"]), facts };
  }

  facts(id: string): ConversationFacts | undefined {
    return this.mark(id)?.facts;
  }

  addMessage(id: string, { offset, role, kind, text, toolName }: SearchableMessage): void {
    const { lastInsertRowid } = this.#statements.addMessage.run(id, offset, role, kind, text, toolName);
    this.#statements.addWords.run(lastInsertRowid, lowercase(text));
  }

  setFile({ id, path, size, updatedAt }: RolloutFile, { inode, readTo, tail, facts }: ReadMark): void {
    const { startedAt, cwd, cliVersion, originator, gitBranch, gitCommit, title } = facts;
    const texts = [startedAt, cwd, cliVersion, originator, gitBranch, gitCommit, title].map((text) => text ?? null);
    this.#statements.setSession.run(id, ...texts, path, new Date(updatedAt).toISOString());
    this.#statements.setFile.run(id, path, size, updatedAt, inode, readTo, tail, JSON.stringify(facts));
  }

  /** Returns the messages of one conversation, in order. */
  messages(id: string): SearchableMessage[] {
    return this.#statements.messages
      .all(id)
      .filter(isRecord)
      .map((row) => ({
        offset: Number(row["offset"]),
        role: row["role"] as SearchableMessage["role"],
        kind: row["kind"] as SearchableMessage["kind"],
        text: String(row["text"]),
        toolName: typeof row["tool_name"] === "string" ? row["tool_name"] : null,
      }));
  }

  /** Returns the conversations that match a full-text query. */
  withWords(query: string): Set<string> {
    return new Set(
      this.#statements.withWords
        .all(query)
        .filter(isRecord)
        .map((row) => String(row["session_id"])),
    );
  }

  /** Removes a conversation. The word index stores no text, so SQLite needs the original text to delete its entries. */
  forget(id: string): void {
    for (const row of this.#statements.texts.all(id)) {
      if (isRecord(row)) this.#statements.forgetWords.run(Number(row["number"]), lowercase(String(row["text"])));
    }
    this.#statements.forgetMessages.run(id);
    this.#statements.forgetSession.run(id);
    this.#statements.forgetFile.run(id);
  }

  counts(): { readonly conversations: number; readonly messages: number } {
    const row = this.#statements.counts.get();
    return isRecord(row)
      ? { conversations: Number(row["conversations"]), messages: Number(row["messages"]) }
      : { conversations: 0, messages: 0 };
  }
}
