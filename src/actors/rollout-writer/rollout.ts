import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { OwnLine } from "../../messages/rollout-line.js";

/** Where one conversation's lines go. Never throws and never blocks: what fails is said by `flush`. */
export interface Rollout {
  /** Null when nothing is written to a file. */
  readonly path: string | null;
  /** Whether so much is waiting that no new turn should begin. */
  readonly full: boolean;
  /** How long the file is with everything that waits; zero as long as nobody knows, or there is none. */
  readonly bytes: number;
  append(line: OwnLine): void;
  /** How many secrets were kept from the disk since this was last asked. */
  takeRedacted(): number;
  /** Answers for every line appended so far, within ten seconds. */
  flush(): Promise<SaveOutcome>;
  /** Flushes and lets go of the file and its lock. */
  close(): Promise<SaveOutcome>;
}
