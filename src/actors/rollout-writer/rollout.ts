import type { SaveOutcome } from "../../messages/rollout-command.js";
import type { OwnLine } from "../../messages/rollout-line.js";

/** The destination of one conversation's lines. Never throws and never blocks: `flush` reports failures. */
export interface Rollout {
  /** Null when nothing is written to a file. */
  readonly path: string | null;
  /** Whether so many lines wait that no new turn should begin. */
  readonly full: boolean;
  /** Length of the file including waiting lines; zero while it is unknown, or without a file. */
  readonly bytes: number;
  append(line: OwnLine): void;
  /** Returns the number of secrets redacted since the last call. */
  takeRedacted(): number;
  /** Resolves within ten seconds, with the outcome for every line appended so far. */
  flush(): Promise<SaveOutcome>;
  /** Flushes and releases the file and its lock. */
  close(): Promise<SaveOutcome>;
}
