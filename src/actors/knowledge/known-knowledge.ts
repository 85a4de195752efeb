import { visibleLine } from "../../context/told-text.js";
import type { KnowledgeEntry } from "../../messages/tools/knowledge.js";

/** Entries indexed by id and by their text as shown to the model. */
export class KnowledgeIndex {
  readonly #ids = new Set<string>();
  readonly #byText = new Map<string, string>();

  constructor(entries: readonly KnowledgeEntry[]) {
    for (const entry of entries) this.add(entry);
  }

  add({ id, content }: KnowledgeEntry): void {
    this.#ids.add(id);
    this.#byText.set(visibleLine(content), id);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Returns the id of the newest entry with the same text. */
  saying(content: string): string | undefined {
    return this.#byText.get(visibleLine(content));
  }
}
