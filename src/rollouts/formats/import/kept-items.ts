import type { ResponseItem } from "../../../messages/response-item.js";

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
