import { readlinkSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readRegularSync } from "../../base/fs/open-regular.js";
import type { LeftOutFile, KeptFile, KeptFolder, KeptVersion } from "../../messages/tools/change-record.js";
import { isSecretFile } from "../../tools/policy/secret-files.js";
import type { FileMode } from "../changed-file.js";
import { type ContentStore, writeAtomically } from "./content-store.js";
import { fileAt, type FoundFile, walk, type Walk, type FoundFolder } from "./walk.js";

/** Retention of contents that no file has any more, because an earlier turn may still need them. */
const keptMs = 24 * 60 * 60 * 1000;

const indexName = "index.json";

/** A file of a tree with its content, or with a stamp that identifies its version when the content is not stored. */
export interface TreeFile {
  readonly path: string;
  readonly mode: FileMode;
  /** Absent for links, and in trees written before permissions were recorded. */
  readonly permissions?: number;
  readonly content: { readonly sha256: string } | { readonly stamp: string; readonly why: LeftOutFile["why"] };
}

/** A file modified this recently may be modified again without a change of its timestamp. */
const settlesMs = 2_000;

/** Lists all files of a workspace and stores their contents; only files whose stamp changed are read. */
export function storeTree(store: ContentStore, walkOptions: Walk, now: number): TreeFile[] {
  const index = WorkspaceIndex.read(store.folder);
  const known = new Map<string, KnownFile>();
  const files = walk(walkOptions).map((file): TreeFile => {
    const { path, mode, stamp } = file;
    const found = foundOf(file);
    const before = index.files.get(path);
    const isKnown = before?.stamp === stamp && store.has(before.sha256);
    const content = isKnown ? before : contentOf(store, walkOptions, file);
    if (!("sha256" in content)) return { ...found, content };
    if (now - file.touchedMs > settlesMs) known.set(path, { stamp, mode, sha256: content.sha256 });
    return { ...found, content: { sha256: content.sha256 } };
  });
  store.flush();
  index.write(store, known, now);
  return files;
}

/** Lists those files of a tree that still exist, in their current version. */
export function refreshTree(store: ContentStore, walkOptions: Walk, tree: readonly TreeFile[]): TreeFile[] {
  const isOdd = ({ content }: TreeFile): boolean => "why" in content && content.why === "odd_name";
  const paths = tree.filter((file) => !isOdd(file)).map(({ path }) => path);
  const found = paths.map((path) => fileAt(walkOptions.root, path)).filter((file) => file !== undefined);
  const entries = found.map((file) => ({ ...foundOf(file), content: contentOf(store, walkOptions, file) }));
  const files = [...entries, ...tree.filter(isOdd)];
  store.flush();
  return files;
}

function foundOf({ path, mode, permissions }: FoundFile): Omit<TreeFile, "content"> {
  return { path, mode, ...(permissions === undefined ? {} : { permissions }) };
}

function contentOf(store: ContentStore, { root, limits, secrets }: Walk, file: FoundFile): TreeFile["content"] {
  const { path, mode, size, stamp } = file;
  if (file.isOdd === true) return { stamp, why: "odd_name" };
  if (size > limits.maxFileBytes) return { stamp, why: "too_large" };
  if (isForSecrets(path)) return { stamp, why: "secret" };
  try {
    const bytes = bytesAt(join(root, path), mode);
    if (bytes.length > limits.maxFileBytes) return { stamp, why: "too_large" };
    if (secrets.some((secret) => bytes.includes(secret))) return { stamp, why: "secret" };
    return { sha256: store.put(bytes) };
  } catch (error) {
    // A failure in the store's own folder is not a problem of the file.
    if ((error as NodeJS.ErrnoException).path?.startsWith(store.folder) === true) throw error;
    return { stamp, why: "unreadable" };
  }
}

/** Reads a file's content or a link's target; never follows a link and never waits for a pipe. */
export function bytesAt(path: string, mode: FileMode): Buffer {
  if (mode === "120000") return readlinkSync(path, "buffer");
  return readRegularSync(path, { links: "refuse" });
}

/** Whether the file's name marks it as a file for secrets; such files are neither read nor stored. */
function isForSecrets(path: string): boolean {
  return isSecretFile(path.slice(path.lastIndexOf("/") + 1));
}

/** A file whose content hash is known; it is not read again while its stamp stays the same. */
interface KnownFile {
  readonly stamp: string;
  readonly mode: FileMode;
  readonly sha256: string;
}

/** Cache of the files seen in a workspace last time. */
class WorkspaceIndex {
  readonly files: ReadonlyMap<string, KnownFile>;
  /** Times since when contents are unused. */
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

  /** Writes the index and removes contents that have been unused for `keptMs`. */
  write(store: ContentStore, files: ReadonlyMap<string, KnownFile>, now: number): void {
    const used = new Set([...files.values()].map(({ sha256 }) => sha256));
    const unused = new Map<string, number>();
    for (const name of store.names) if (!used.has(name)) unused.set(name, Math.min(this.#unused.get(name) ?? now, now));
    store.remove(new Set([...unused].filter(([, since]) => now - since > keptMs).map(([name]) => name)));
    mkdirSync(store.folder, { recursive: true, mode: 0o700 });
    const written: WrittenIndex = { files: [...files], unused: [...unused].filter(([name]) => store.has(name)) };
    writeAtomically(join(store.folder, indexName), JSON.stringify(written));
  }
}

interface WrittenIndex {
  readonly files: readonly (readonly [path: string, file: KnownFile])[];
  readonly unused: readonly (readonly [name: string, since: number])[];
}

interface TreeChanges {
  readonly files: readonly KeptFile[];
  readonly leftOut: readonly LeftOutFile[];
}

/** Compares two trees whose contents are in one store. */
export function compareTrees(
  store: ContentStore,
  before: readonly TreeFile[],
  after: readonly TreeFile[],
): TreeChanges {
  const [old, now] = [byPath(before), byPath(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter((path) => !isSame(old.get(path), now.get(path)));
  const files: KeptFile[] = [];
  const leftOut: LeftOutFile[] = [];
  for (const path of paths.toSorted()) {
    const versions = [old.get(path), now.get(path)].map((file) => file && versionOf(store, file));
    const why = versions.find((version) => typeof version === "string");
    const [was, is] = versions;
    if (why !== undefined) leftOut.push({ path, why });
    else if (typeof was !== "string" && typeof is !== "string") {
      files.push({ path, before: was ?? null, after: is ?? null });
    }
  }
  return { files, leftOut };
}

/** Returns the folders that exist in only one of the two lists. */
export function compareFolders(before: readonly FoundFolder[], after: readonly FoundFolder[]): KeptFolder[] {
  const [old, now] = [permissionsIn(before), permissionsIn(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => !old.has(path) || !now.has(path))
    .toSorted()
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }));
}

function permissionsIn(folders: readonly FoundFolder[]): Map<string, number> {
  return new Map(folders.map(({ path, permissions }) => [path, permissions]));
}

function byPath(tree: readonly TreeFile[]): Map<string, TreeFile> {
  return new Map(tree.map((file) => [file.path, file]));
}

function isSame(one: TreeFile | undefined, other: TreeFile | undefined): boolean {
  if (one === undefined || other === undefined || one.mode !== other.mode) return false;
  const [a, b] = [one.content, other.content];
  return "sha256" in a ? "sha256" in b && a.sha256 === b.sha256 : "stamp" in b && a.stamp === b.stamp;
}

/** Returns the stored version, or the reason why there is no content. */
function versionOf(store: ContentStore, { mode, permissions, content }: TreeFile): KeptVersion | LeftOutFile["why"] {
  if (!("sha256" in content)) return content.why;
  const bytes = store.get(content.sha256)?.length;
  if (bytes === undefined) return "unreadable";
  return { mode, ...(permissions === undefined ? {} : { permissions }), sha256: content.sha256, bytes };
}
