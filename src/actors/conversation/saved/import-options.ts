import type { ImportFormat } from "../../../rollouts/formats/import/import-format.js";
import type { LossReport } from "../../../rollouts/formats/import/losses.js";

export interface ImportOptions {
  /** What the file is; without it that is found out. */
  readonly from?: ImportFormat;
  /** Import it although it has been imported before. */
  readonly force?: boolean;
  /** Read everything and write nothing. */
  readonly dryRun?: boolean;
}

/** A conversation that was carried over, or that would be. */
export interface ImportedConversation {
  readonly status: "imported" | "would_import";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
  /** Null when nothing was written to a file. */
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
  /** False when that import was interrupted. */
  readonly complete: boolean;
  /** Whether the file has become longer since. */
  readonly grown: boolean;
}

/** A conversation that need not be imported: it is kept here, and the file is its own or says its id. */
export interface ImportHere {
  readonly status: "here";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
}

/** A file in a directory that is no conversation, or none that could be read. */
export interface SkippedFile {
  readonly status: "skipped";
  readonly path: string;
  readonly reason: string;
}

/** A file in a directory that could have been imported, and was not: somebody else has the conversation. */
export interface FailedImport {
  readonly status: "failed";
  readonly path: string;
  readonly reason: string;
}

export type ImportResult = ImportedConversation | KnownImport | ImportHere;
export type ImportOutcome = ImportResult | SkippedFile | FailedImport;
