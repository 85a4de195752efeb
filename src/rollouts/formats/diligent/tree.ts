import type { ResponseItem } from "../../../messages/response-item.js";

interface Entry {
  readonly parent: string | null;
  readonly items: readonly ResponseItem[];
  /** It stands for all that came before it, too. */
  readonly replaces: boolean;
}

/** Entries that name the one before them. The last one says which of them are the conversation. */
export class EntryTree {
  readonly #entries = new Map<string, Entry>();
  #leaf: string | null = null;

  /** Whether an entry goes on where the last one ended. */
  follows(parent: string | null): boolean {
    return parent === this.#leaf;
  }

  add(id: string, entry: Entry): void {
    this.#entries.set(id, entry);
    this.#leaf = id;
  }

  /**
   * What was said up to an entry, or from one of those before it on; nothing when that is not among them. Of several
   * compactions only the last counts, so those among the entries that it keeps add nothing.
   */
  itemsUpTo(id: string | null, from?: string): ResponseItem[] {
    const path: (readonly ResponseItem[])[] = [];
    const seen = new Set<string>();
    for (let at = id; at !== null && !seen.has(at);) {
      const entry = this.#entries.get(at);
      if (entry === undefined) break;
      seen.add(at);
      if (from === undefined || !entry.replaces) path.push(entry.items);
      if (at === from) break;
      at = entry.replaces && from === undefined ? null : entry.parent;
    }
    return from !== undefined && !seen.has(from) ? [] : path.toReversed().flat();
  }
}
