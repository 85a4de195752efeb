import type { ResponseItem } from "../../../messages/response-item.js";

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

/** The entries that a compaction keeps, by position. */
export interface KeptRange {
  /** Position of the compaction itself. */
  readonly at: number;
  /** Position of the first kept entry. */
  readonly from: number;
  keeps(position: number): boolean;
}

/** Buffers items from the first one that a compaction keeps until that compaction, and no others. */
export class KeptItemBuffer {
  readonly #byStart = new Map<number, KeptRange[]>();
  readonly #open = new Map<KeptRange, ResponseItem[]>();

  constructor(keepings: readonly KeptRange[]) {
    for (const keeping of keepings) {
      const others = this.#byStart.get(keeping.from);
      if (others === undefined) this.#byStart.set(keeping.from, [keeping]);
      else others.push(keeping);
    }
  }

  /** Records the items at a position; positions must ascend. */
  note(position: number, items: readonly ResponseItem[]): void {
    for (const keeping of this.#byStart.get(position) ?? []) this.#open.set(keeping, []);
    this.#byStart.delete(position);
    for (const [keeping, held] of this.#open) {
      if (keeping.keeps(position)) for (const item of items) held.push(item);
    }
  }

  /** Returns the items that the compaction at this position keeps. */
  take(position: number): ResponseItem[] {
    const ended = [...this.#open].filter(([{ at }]) => at <= position);
    for (const [keeping] of ended) this.#open.delete(keeping);
    return ended.find(([{ at }]) => at === position)?.[1] ?? [];
  }
}
