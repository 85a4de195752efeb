import type { DiffSummary, FileDiff, TurnDiff } from "../messages/tools/diff.js";
import type { ChangedFile, FileMode, FileVersion } from "./changed-file.js";
import { fileDiff, fileDiffText } from "./file-diff.js";

/** A changed file with its original and its current version. */
export interface TrackedFile extends FileDiff {
  readonly original: FileVersion | undefined;
  readonly current: FileVersion | undefined;
}

export interface TurnDiffOptions {
  /** Maximum length of the diff; files that do not fit are left out. */
  readonly maxChars?: number;
}

type Content = string | Uint8Array;

/**
 * Tracks how files have changed since a turn began. A file changed repeatedly keeps its first version as original. A
 * file that was created and deleted again, or has its original content again, counts as unchanged.
 */
export class TurnDiffTracker {
  readonly #changes = new Map<string, ChangedFile>();

  recordFileModification(path: string, original: Content, modified: Content): void {
    this.record({ path, before: version(original), after: version(modified) });
  }

  recordFileCreation(path: string, content: Content = ""): void {
    this.record({ path, after: version(content) });
  }

  recordFileDeletion(path: string, original: Content = ""): void {
    this.record({ path, before: version(original) });
  }

  record({ path, before, after }: ChangedFile): void {
    const known = this.#changes.get(path);
    const change = { path, before: known === undefined ? before : known.before, after };
    if (isSame(change.before, change.after)) this.#changes.delete(path);
    else this.#changes.set(path, change);
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  /** Every changed file, ordered by path. */
  get files(): readonly TrackedFile[] {
    return this.#ordered().map((change) => ({
      ...fileDiff(change),
      original: change.before,
      current: change.after,
    }));
  }

  get filesModified(): ReadonlyMap<string, TrackedFile> {
    return new Map(this.files.filter(({ status }) => status === "modified").map((file) => [file.path, file]));
  }

  get filesCreated(): ReadonlySet<string> {
    return new Set(pathsOf(this.files, "created"));
  }

  get filesDeleted(): ReadonlySet<string> {
    return new Set(pathsOf(this.files, "deleted"));
  }

  getSummary(): DiffSummary {
    return summaryOf(this.files);
  }

  /** Returns a diff that `git apply` accepts. */
  generateUnifiedDiff(): string {
    return this.#ordered().map(fileDiffText).join("");
  }

  /** Returns the diff in the form used by events. */
  turnDiff({ maxChars = Number.POSITIVE_INFINITY }: TurnDiffOptions = {}): TurnDiff {
    const diffs = this.#ordered().map((change) => ({ change, diff: fileDiff(change) }));
    const files: FileDiff[] = [];
    let text = "";
    for (const { change, diff } of diffs) {
      // Once the text is too long no further piece can fit, so it is not computed.
      const piece = text.length > maxChars ? "" : fileDiffText(change);
      if (piece === "" || text.length + piece.length > maxChars) continue;
      text += piece;
      files.push(diff);
    }
    const all = diffs.map(({ diff }) => diff);
    return {
      unified_diff: text,
      summary: summaryOf(all),
      files_modified: pathsOf(all, "modified"),
      files_created: pathsOf(all, "created"),
      files_deleted: pathsOf(all, "deleted"),
      files,
      ...(files.length < all.length ? { left_out: all.length - files.length } : {}),
    };
  }

  #ordered(): ChangedFile[] {
    return [...this.#changes.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }
}

function version(content: Content, mode: FileMode = "100644"): FileVersion {
  return { mode, bytes: typeof content === "string" ? Buffer.from(content) : content };
}

function isSame(one: FileVersion | undefined, other: FileVersion | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.mode === other.mode && Buffer.compare(one.bytes, other.bytes) === 0;
}

function pathsOf(files: readonly FileDiff[], status: FileDiff["status"]): string[] {
  return files.filter((file) => file.status === status).map(({ path }) => path);
}

function summaryOf(files: readonly FileDiff[]): DiffSummary {
  return {
    files_modified: pathsOf(files, "modified").length,
    files_created: pathsOf(files, "created").length,
    files_deleted: pathsOf(files, "deleted").length,
    total_additions: files.reduce((sum, { additions }) => sum + additions, 0),
    total_deletions: files.reduce((sum, { deletions }) => sum + deletions, 0),
  };
}
