/** Some hundred bytes each: what is longer is no conversation. */
const maxEntries = 5_000_000;

interface Entry {
  readonly id: string;
  /** Null where a conversation begins; undefined for one that says nothing and follows the one before it. */
  readonly parent: string | null | undefined;
}

/** Entries that name the one before them, by their order in the file: which of them lead to the last one. */
export class Lineage {
  readonly #entries: Entry[] = [];
  readonly #positions = new Map<string, number>();

  get full(): boolean {
    return this.#entries.length >= maxEntries;
  }

  get length(): number {
    return this.#entries.length;
  }

  add(entry: Entry): void {
    // The first one counts: what comes again is a copy of it.
    if (!this.#positions.has(entry.id)) this.#positions.set(entry.id, this.#entries.length);
    this.#entries.push(entry);
  }

  positionOf(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /** For every entry, in order, whether it leads to the last one. Where a line is lost, the one before goes on. */
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
