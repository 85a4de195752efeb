import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { ImportFormat } from "./import-format.js";
import type { Losses } from "./losses.js";

/** Who answered, as the source calls them. */
export interface PlayedBy {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** What a source says about the conversation as a whole; all of it may be missing. */
export interface SourceFacts extends PlayedBy {
  readonly id?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly cwd?: string | undefined;
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly repositoryUrl?: string | undefined;
}

/** One thing a source says, in the order of the conversation. */
export type SourceRecord =
  | { readonly type: "item"; readonly timestamp: string; readonly item: ResponseItem; readonly by?: PlayedBy }
  /** From here on the model saw these items only. */
  | {
      readonly type: "replaced";
      readonly timestamp: string;
      readonly summary: string;
      readonly items: readonly ResponseItem[];
    }
  /** Who answers from here on. */
  | { readonly type: "played_by"; readonly by: PlayedBy }
  | { readonly type: "named"; readonly name: string }
  /** A line of Codex, taken over as it is. */
  | { readonly type: "line"; readonly line: OwnLine };

/** A regular file, as long as it was when it was first looked at: others may still be writing to it. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: number;
}

/** One conversation in a form of another program, or in an old one of ours. */
export interface Source {
  readonly file: SourceFile;
  readonly format: ImportFormat;
  readonly facts: SourceFacts;
  /** Final when all records have been read. */
  readonly losses: Losses;
  /** To be read once. Holds no more in memory than what must be kept back. */
  readonly records: AsyncIterable<SourceRecord>;
}

/** What a format has to offer: it looks through the file, and says then what stands in it. */
export type ReadSource = (file: SourceFile, losses: Losses) => Promise<Pick<Source, "facts" | "records">>;
