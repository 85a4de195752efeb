import { sep } from "node:path";
import type { ConversationFacts } from "./conversation-facts.js";
import { lowercase } from "./folded.js";
import { IndexRows } from "./index-rows.js";
import { WordSearch } from "./match-words.js";
import { readConversation } from "./read-conversation.js";
import type { SearchHit, RolloutFile } from "./scan.js";
import type { SqlDatabase } from "./sql.js";

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
      this.#inOneGo(() => {
        for (const file of files.slice(from, from + filesInOneGo)) this.#read(file);
      });
    }
    const present = new Set(library.conversations.map(({ id }) => id));
    const gone = [...this.#rows.files()].filter(
      ([id, { path }]) => !present.has(id) && library.directories.some((directory) => path.startsWith(directory + sep)),
    );
    if (gone.length > 0) this.forget(gone.map(([id]) => id));
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
    this.#inOneGo(() => {
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

  #inOneGo(work: () => void): void {
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
