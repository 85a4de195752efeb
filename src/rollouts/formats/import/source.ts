import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { ImportFormat } from "./import-format.js";
import type { Losses } from "./losses.js";

/** The provider and model of an answer, as named by the source. */
export interface AnsweredBy {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** Facts about the conversation as a whole; each may be missing. */
export interface SourceFacts extends AnsweredBy {
  readonly id?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly cwd?: string | undefined;
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly repositoryUrl?: string | undefined;
}

/** One record of a source, in conversation order. */
export type SourceRecord =
  | { readonly type: "item"; readonly timestamp: string; readonly item: ResponseItem; readonly by?: AnsweredBy }
  /** From here on the model saw only these items. */
  | {
      readonly type: "replaced";
      readonly timestamp: string;
      readonly summary: string;
      readonly items: readonly ResponseItem[];
    }
  /** The provider and model from here on. */
  | { readonly type: "played_by"; readonly by: AnsweredBy }
  | { readonly type: "named"; readonly name: string }
  /** A line of Codex, imported unchanged. */
  | { readonly type: "line"; readonly line: OwnLine };

/** A regular file with its length when it was first opened, because other processes may still be writing to it. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: number;
}

/** A conversation in the format of another program, or in an old format of cody. */
export interface Source {
  readonly file: SourceFile;
  readonly format: ImportFormat;
  readonly facts: SourceFacts;
  /** Complete when all records have been read. */
  readonly losses: Losses;
  /** Can be read once. Holds only the items in memory that must be held back. */
  readonly records: AsyncIterable<SourceRecord>;
}

/** A format's reader: surveys the file, then returns its facts and records. */
export type ReadSource = (file: SourceFile, losses: Losses) => Promise<Pick<Source, "facts" | "records">>;
