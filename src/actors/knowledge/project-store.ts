import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { TextRedactor } from "../../base/text/redaction.js";
import { visibleLine } from "../../context/visible-text.js";
import {
  type KnowledgeEntry,
  type KnowledgeSource,
  maxKnowledgeChars,
  type NewKnowledge,
} from "../../messages/tools/knowledge.js";
import { FileProblem } from "../../tools/files/file-problem.js";
import { type OpenFolder, openFolder } from "../../tools/files/open-folder.js";
import { knowledgeStamp, readKnowledgeFile, type ReadKnowledge, appendEntries, removeLines } from "./knowledge-file.js";

const ownFolders = [".cody", "knowledge"];
/** cody's own folder, which is written, and another program's, which is only read. */
const folders = [ownFolders, [".diligent", "knowledge"]];

export interface ProjectStoreParts {
  /** The project folder. */
  readonly root: string;
  readonly redactor: TextRedactor;
  now(): Date;
}

interface SavedBy {
  readonly source: KnowledgeSource;
  /** The conversation in which the model saved it. */
  readonly sessionId?: string;
}

interface RemovedKnowledge {
  readonly ids: string[];
  readonly lines: number;
}

/**
 * A project's knowledge, stored in the project folder. Writing follows no symbolic link and never leaves that folder.
 */
export class ProjectStore {
  readonly #parts: ProjectStoreParts;

  constructor(parts: ProjectStoreParts) {
    this.#parts = parts;
  }

  /** Returns a stamp that changes whenever the knowledge does. */
  async stamp(): Promise<string> {
    const { root } = this.#parts;
    return (await Promise.all(folders.map((names) => knowledgeStamp(join(root, ...names))))).join(" ");
  }

  /** Returns all entries, each id once; if two files contain an id, ours wins. */
  async read(): Promise<ReadKnowledge> {
    const { root } = this.#parts;
    const files = await Promise.all(folders.map((names) => readKnowledgeFile(join(root, ...names), root)));
    const byId = new Map<string, KnowledgeEntry>();
    for (const entry of files.flatMap(({ entries }) => entries)) {
      if (!byId.has(entry.id)) byId.set(entry.id, entry);
    }
    return { entries: [...byId.values()], problems: files.flatMap(({ problems }) => problems) };
  }

  /** Builds the entry for new knowledge, with secrets redacted. It supersedes an existing entry with the same text. */
  entryOf(entry: NewKnowledge, known: KnowledgeIndex, { source, sessionId }: SavedBy): KnowledgeEntry {
    const { type, confidence, tags } = entry;
    const content = this.#redacted(entry.content);
    const supersedes = replacedBy({ ...entry, content }, known);
    return {
      id: newId(known),
      timestamp: this.#parts.now().toISOString(),
      ...(sessionId === undefined ? {} : { sessionId }),
      source,
      type,
      content,
      confidence,
      ...(supersedes === undefined ? {} : { supersedes }),
      ...(tags === undefined ? {} : { tags: tags.map((tag) => this.#redacted(tag)) }),
    };
  }

  async append(entries: readonly KnowledgeEntry[]): Promise<void> {
    await using folder = await this.#ownFolder();
    await appendEntries(folder, entries);
  }

  /** Adds entries of another store, except those with a known id. Returns the added ones. */
  async import(entries: readonly KnowledgeEntry[]): Promise<KnowledgeEntry[]> {
    const known = new Set((await this.read()).entries.map(({ id }) => id));
    const added = new Map(entries.filter(({ id }) => !known.has(id)).map((entry) => [entry.id, this.#clean(entry)]));
    await this.append([...added.values()]);
    return [...added.values()];
  }

  /**
   * Removes entries for good, together with the entries they replaced, which must not reappear. Returns the removed
   * ids.
   */
  async remove(ids: readonly string[]): Promise<string[]> {
    return (await this.#removeEntries((entries) => withReplaced(ids, entries), { keepsUnknown: true })).ids;
  }

  /** Removes only these entries, so that the ones they replaced count again. Returns the removed ids. */
  async undo(ids: readonly string[]): Promise<string[]> {
    return (await this.#removeEntries(() => new Set(ids), { keepsUnknown: true })).ids;
  }

  /** Removes superseded entries, those that `isStale` selects, and invalid lines, for good. */
  async prune(isStale: (entry: KnowledgeEntry) => boolean): Promise<RemovedKnowledge> {
    return await this.#removeEntries((entries) => prunable(entries, isStale), { keepsUnknown: false });
  }

  /** Returns the ids of the readable entries that a prune would remove. */
  async prunable(isStale: (entry: KnowledgeEntry) => boolean): Promise<string[]> {
    const { root } = this.#parts;
    const { entries } = await readKnowledgeFile(join(root, ...ownFolders), root);
    return [...prunable(entries, isStale)];
  }

  async #removeEntries(
    chosen: (entries: readonly KnowledgeEntry[]) => ReadonlySet<string>,
    { keepsUnknown }: { readonly keepsUnknown: boolean },
  ): Promise<RemovedKnowledge> {
    const { root } = this.#parts;
    if ((await knowledgeStamp(join(root, ...ownFolders))) === "ENOENT") return { ids: [], lines: 0 };
    await using folder = await this.#ownFolder();
    const removed = await removeLines(folder, (lines) => {
      const idsToRemove = chosen(lines.flatMap(({ entry }) => entry ?? []));
      return lines.filter(({ entry }) => (entry === undefined ? !keepsUnknown : idsToRemove.has(entry.id)));
    });
    return { ids: [...new Set(removed.flatMap(({ entry }) => entry?.id ?? []))], lines: removed.length };
  }

  async #ownFolder(): Promise<OpenFolder> {
    return await openFolder(await realpath(this.#parts.root), ownFolders);
  }

  #clean(entry: KnowledgeEntry): KnowledgeEntry {
    const { content, tags } = entry;
    const cleanTags = tags === undefined ? {} : { tags: tags.map((tag) => this.#redacted(tag)) };
    return { ...entry, content: this.#redacted(content), ...cleanTags };
  }

  #redacted(text: string): string {
    // The placeholder for a secret may be longer than the secret.
    return this.#parts.redactor.redact(text, () => undefined).slice(0, maxKnowledgeChars);
  }
}

function prunable(
  entries: readonly KnowledgeEntry[],
  isStale: (entry: KnowledgeEntry) => boolean,
): ReadonlySet<string> {
  const superseded = new Set(entries.map(({ supersedes }) => supersedes));
  const ids = entries.filter((entry) => superseded.has(entry.id) || isStale(entry)).map(({ id }) => id);
  return withReplaced(ids, entries);
}

function replacedBy({ supersedes, content }: NewKnowledge, known: KnowledgeIndex): string | undefined {
  if (supersedes === undefined) return known.idOfText(content);
  const id = known.has(supersedes) ? supersedes : known.idOfText(supersedes);
  if (id === undefined) throw new FileProblem("the entry to replace was not found, by id or text");
  return id;
}

function withReplaced(ids: readonly string[], entries: readonly KnowledgeEntry[]): ReadonlySet<string> {
  const replaced = new Map(entries.map(({ id, supersedes }) => [id, supersedes]));
  const all = new Set<string>();
  for (const first of ids) {
    let id: string | undefined = first;
    while (id !== undefined && !all.has(id)) {
      all.add(id);
      id = replaced.get(id);
    }
  }
  return all;
}

function newId(known: KnowledgeIndex): string {
  for (;;) {
    const id = randomBytes(4).toString("hex");
    if (!known.has(id)) return id;
  }
}

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
  idOfText(content: string): string | undefined {
    return this.#byText.get(visibleLine(content));
  }
}
