import type { ImportFormat } from "../../../rollouts/formats/import/import-format.js";
import type { LossReport } from "../../../rollouts/formats/import/losses.js";

export interface ImportOptions {
  /** The file's format; detected when absent. */
  readonly from?: ImportFormat;
  /** Import it even if it was imported before. */
  readonly force?: boolean;
  /** Read everything and write nothing. */
  readonly dryRun?: boolean;
}

/** A conversation that was imported, or with `dryRun` would be. */
export interface ImportedConversation {
  readonly status: "imported" | "would_import";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
  /** Null when no file was written. */
  readonly rolloutPath: string | null;
  readonly name?: string;
  readonly turns: number;
  readonly items: number;
  readonly losses: LossReport;
}

/** A conversation that was imported before. */
export interface KnownImport {
  readonly status: "exists";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
  /** False when the earlier import was interrupted. */
  readonly complete: boolean;
  /** Whether the file has grown since. */
  readonly grown: boolean;
}

/** A conversation that is already stored here: the file is its own rollout, or has its id. */
export interface ImportHere {
  readonly status: "here";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
}

/** A file in a directory that is not a readable conversation. */
export interface SkippedFile {
  readonly status: "skipped";
  readonly path: string;
  readonly reason: string;
}

/** A file in a directory that was not imported because another process has the conversation open. */
export interface FailedImport {
  readonly status: "failed";
  readonly path: string;
  readonly reason: string;
}

export type ImportResult = ImportedConversation | KnownImport | ImportHere;
export type ImportOutcome = ImportResult | SkippedFile | FailedImport;
