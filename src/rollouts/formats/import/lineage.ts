/** Entries take some hundred bytes each; a longer file is not a conversation. */
const maxEntries = 5_000_000;

interface Entry {
  readonly id: string;
  /** Null at the start of a conversation; undefined for an entry that follows the one before it. */
  readonly parent: string | null | undefined;
}

/** Entries that name their parents, in file order; finds the path that leads to the last one. */
export class EntryPath {
  readonly #entries: Entry[] = [];
  readonly #positions = new Map<string, number>();

  get full(): boolean {
    return this.#entries.length >= maxEntries;
  }

  get length(): number {
    return this.#entries.length;
  }

  add(entry: Entry): void {
    // The first entry counts; a repeated id is a copy.
    if (!this.#positions.has(entry.id)) this.#positions.set(entry.id, this.#entries.length);
    this.#entries.push(entry);
  }

  positionOf(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /**
   * Returns for every entry, in order, whether it leads to the last one. A missing parent is replaced by the
   * preceding entry.
   */
  path(): boolean[] {
    const onPath = this.#entries.map(() => false);
    for (let at = this.#entries.length - 1; at >= 0 && onPath[at] === false; at = this.#before(at)) onPath[at] = true;
    return onPath;
  }

  #before(position: number): number {
    const { parent } = this.#entries[position] ?? {};
    if (parent === null) return -1;
    const known = parent === undefined ? undefined : this.#positions.get(parent);
    return known === undefined || known >= position ? position - 1 : known;
  }
}
