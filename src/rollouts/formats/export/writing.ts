import type { OwnLine } from "../../../messages/rollout-line.js";
import type { Survey } from "./survey.js";

/** What a writer of a format has to go by. */
export interface Writing {
  readonly survey: Survey;
  readonly batches: AsyncIterable<readonly OwnLine[]>;
  /** Counts what could not be written. */
  readonly leave: (kind: string) => void;
}
