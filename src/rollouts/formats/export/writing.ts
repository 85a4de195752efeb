import type { OwnLine } from "../../../messages/rollout-line.js";
import type { Survey } from "./survey.js";

/** Input of a format's writer. */
export interface Writing {
  readonly survey: Survey;
  readonly batches: AsyncIterable<readonly OwnLine[]>;
  /** Counts content that the format cannot represent. */
  readonly leave: (kind: string) => void;
}
