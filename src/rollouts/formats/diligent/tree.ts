import type { ResponseItem } from "../../../messages/response-item.js";

interface Entry {
  readonly parent: string | null;
  readonly items: readonly ResponseItem[];
  /** Whether the entry replaces everything before it. */
  readonly replaces: boolean;
}

/** A tree of entries that name their parents. The path to the last entry is the conversation. */
export class EntryTree {
  readonly #entries = new Map<string, Entry>();
  #leaf: string | null = null;

  /** Whether an entry with this parent continues the last one. */
  follows(parent: string | null): boolean {
    return parent === this.#leaf;
  }

  add(id: string, entry: Entry): void {
    this.#entries.set(id, entry);
    this.#leaf = id;
  }

  /**
   * Returns the items on the path up to an entry, optionally starting at `from`; empty when `from` is not on the
   * path. Only the last compaction counts, so compactions among the entries it keeps contribute nothing.
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
