import type { ConversationFacts, SearchableMessage } from "./conversation-fold.js";
import { type Excerpt, WordSearch } from "./match-words.js";
import { readConversation } from "./read-conversation.js";

/** A conversation file to search. */
export interface RolloutFile {
  readonly id: string;
  readonly path: string;
  readonly updatedAt: number;
  readonly size: number;
}

export interface SearchHit<T> {
  readonly conversation: T;
  readonly excerpts: readonly Excerpt[];
}

/** Searches the files and returns the first conversations that contain all words. */
export function searchFiles<T extends RolloutFile>(
  conversations: readonly T[],
  words: readonly string[],
  limit: number,
): SearchHit<T>[] {
  const found: SearchHit<T>[] = [];
  for (const conversation of conversations) {
    const search = new WordSearch(words);
    if (!isRead(conversation, (message) => search.add(message))) continue;
    const excerpts = search.excerpts();
    if (excerpts !== undefined) found.push({ conversation, excerpts });
    if (found.length === limit) break;
  }
  return found;
}

/** Reads the facts of each conversation from its file. */
export function factsInFiles<T extends RolloutFile>(conversations: readonly T[]): Map<T, ConversationFacts> {
  const facts = new Map<T, ConversationFacts>();
  for (const conversation of conversations) {
    try {
      facts.set(conversation, readConversation(conversation, {}).facts);
    } catch {
      // The file is gone or not readable.
    }
  }
  return facts;
}

function isRead(file: RolloutFile, onMessage: (message: SearchableMessage) => void): boolean {
  try {
    readConversation(file, { onMessage });
    return true;
  } catch {
    // The file is gone or not readable.
    return false;
  }
}
