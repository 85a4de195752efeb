import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { FileMode } from "../changed-file.js";
import type { ContentStore } from "./content-store.js";
import { type FoundFile, walk, type Walk } from "./walk.js";
import { type KnownFile, WorkspaceIndex } from "./workspace-index.js";

/** A file of a tree: its content, or, where that is not kept, what tells it from another. */
export interface TreeFile {
  readonly path: string;
  readonly mode: FileMode;
  readonly content: { readonly sha256: string } | { readonly stamp: string; readonly why: "too_large" | "unreadable" };
}

/** A file touched so shortly ago may be touched again without looking any different. */
const settlesMs = 2_000;

/** All files of a workspace as they are now, their contents in the store; only those that were touched are read. */
export function takeTree(store: ContentStore, where: Walk, now: number): TreeFile[] {
  const index = WorkspaceIndex.read(store.folder);
  const known = new Map<string, KnownFile>();
  const files = walk(where).map((file): TreeFile => {
    const { path, mode, stamp } = file;
    const before = index.files.get(path);
    const isKnown = before?.stamp === stamp && store.has(before.sha256);
    const content = isKnown ? before : contentOf(store, where, file);
    if (!("sha256" in content)) return { path, mode, content };
    if (now - file.touchedMs > settlesMs) known.set(path, { stamp, mode, sha256: content.sha256 });
    return { path, mode, content: { sha256: content.sha256 } };
  });
  store.flush();
  index.write(store, known, now);
  return files;
}

function contentOf(store: ContentStore, { root, limits }: Walk, file: FoundFile): TreeFile["content"] {
  const { path, mode, size, stamp } = file;
  if (size > limits.maxFileBytes) return { stamp, why: "too_large" };
  try {
    const bytes = bytesAt(join(root, path), mode);
    if (bytes.length > limits.maxFileBytes) return { stamp, why: "too_large" };
    return { sha256: store.put(bytes) };
  } catch (error) {
    // What is wrong with our own folder is not wrong with the file.
    if ((error as NodeJS.ErrnoException).path?.startsWith(store.folder) === true) throw error;
    return { stamp, why: "unreadable" };
  }
}

/** What a file holds, or where a link leads; never through a link, and never waiting for a pipe. */
export function bytesAt(path: string, mode: FileMode): Buffer {
  if (mode === "120000") return readlinkSync(path, "buffer");
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file any more`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
