import type { OwnLine } from "../../../messages/rollout-line.js";
import type { ExportFacts } from "./survey.js";

/** Input of a format's writer. */
export interface WriterInput {
  readonly survey: ExportFacts;
  readonly batches: AsyncIterable<readonly OwnLine[]>;
  /** Counts content that the format cannot represent. */
  readonly leave: (kind: string) => void;
}
