import { toldLine } from "../../context/told-text.js";
import type { KnowledgeEntry } from "../../messages/knowledge.js";

/** Entries by what they are called by: their id, or their text as a model is told it. */
export class KnownKnowledge {
  readonly #ids = new Set<string>();
  readonly #byText = new Map<string, string>();

  constructor(entries: readonly KnowledgeEntry[]) {
    for (const entry of entries) this.add(entry);
  }

  add({ id, content }: KnowledgeEntry): void {
    this.#ids.add(id);
    this.#byText.set(toldLine(content), id);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** The newest that says the same. */
  saying(content: string): string | undefined {
    return this.#byText.get(toldLine(content));
  }
}
