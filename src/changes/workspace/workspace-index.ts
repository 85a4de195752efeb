import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FileMode } from "../changed-file.js";
import { type ContentStore, replaceWhole } from "./content-store.js";

/** A file whose content is known: so long as its stamp is the same it need not be read again. */
export interface KnownFile {
  readonly stamp: string;
  readonly mode: FileMode;
  readonly sha256: string;
}

/** How long a content is kept that no file has any more: a turn that began before may still ask for it. */
const keptMs = 24 * 60 * 60 * 1000;
const indexName = "index.json";

/** What was known of the files of a workspace when it was last looked at. Only there to be quick. */
export class WorkspaceIndex {
  readonly files: ReadonlyMap<string, KnownFile>;
  /** Since when a content is nobody's. */
  readonly #unused: ReadonlyMap<string, number>;

  private constructor(files: ReadonlyMap<string, KnownFile>, unused: ReadonlyMap<string, number>) {
    this.files = files;
    this.#unused = unused;
  }

  static read(folder: string): WorkspaceIndex {
    try {
      const { files, unused } = JSON.parse(readFileSync(join(folder, indexName), "utf8")) as WrittenIndex;
      return new WorkspaceIndex(new Map(files), new Map(unused));
    } catch {
      return new WorkspaceIndex(new Map(), new Map());
    }
  }

  /** Writes down what is known now, and removes contents that have not been anybody's for long. */
  write(store: ContentStore, files: ReadonlyMap<string, KnownFile>, now: number): void {
    const used = new Set([...files.values()].map(({ sha256 }) => sha256));
    const unused = new Map<string, number>();
    for (const name of store.names) if (!used.has(name)) unused.set(name, Math.min(this.#unused.get(name) ?? now, now));
    store.remove(new Set([...unused].filter(([, since]) => now - since > keptMs).map(([name]) => name)));
    mkdirSync(store.folder, { recursive: true, mode: 0o700 });
    const written: WrittenIndex = { files: [...files], unused: [...unused].filter(([name]) => store.has(name)) };
    replaceWhole(join(store.folder, indexName), JSON.stringify(written));
  }
}

interface WrittenIndex {
  readonly files: readonly (readonly [path: string, file: KnownFile])[];
  readonly unused: readonly (readonly [name: string, since: number])[];
}
