import { isRecord } from "../../base/is-record.js";
import type { ConversationFacts } from "./conversation-facts.js";
import { lowercase } from "./folded.js";
import type { ReadMark } from "./read-conversation.js";
import type { SearchableMessage } from "./said-message.js";
import type { RolloutFile } from "./scan.js";
import type { SqlDatabase, SqlStatement } from "./sql.js";

/** State of a file when it was indexed. */
export interface IndexedFile {
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
}

/** Access to the rows of the index; all values are bound, none is interpolated into a statement. */
export class IndexRows {
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
