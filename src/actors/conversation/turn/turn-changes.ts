import type { EventMsg } from "../../../messages/event.js";
import type { StoredChanges, SnapshotPlaces, SnapshotRequest } from "../../../changes/workspace/snapshot.js";
import type { CpuPool } from "../../../workers/cpu-pool.js";
import type { NewLine } from "./recording.js";

/** Maximum length of the diff in an event. */
const maxDiffChars = 512 * 1024;
/** Maximum number of files named in a warning. */
const maxNamed = 5;

/** The storage for the changes of turns, and the pool that computes them. */
export interface ChangeParts {
  readonly places: SnapshotPlaces;
  readonly pool: CpuPool;
  /** Folders that are too large or unreadable: they are not tried again, and the user has been warned. */
  readonly untracked: Set<string>;
}

export interface ChangedTurn {
  readonly turnId: string;
  readonly cwd: string;
  now(): Date;
  publish(msg: EventMsg): void;
  record(line: NewLine): void;
}

/**
 * Tracks the file changes of one turn. A thread takes a snapshot of the folder before the first call that may change
 * something and again at the end of the turn; if that fails, the turn continues.
 */
export class TurnChanges {
  readonly #parts: ChangeParts;
  readonly #turn: ChangedTurn;
  #status: "none" | "taken" | "untracked" = "none";

  constructor(parts: ChangeParts, turn: ChangedTurn) {
    this.#parts = parts;
    this.#turn = turn;
  }

  /** Called before every call that may change something. */
  async begin(signal: AbortSignal): Promise<void> {
    if (this.#status !== "none") return;
    this.#status = "untracked";
    if (this.#parts.untracked.has(this.#turn.cwd)) return;
    const outcome = await this.#parts.pool.run("take_snapshot", this.#request(), { signal });
    if (signal.aborted) return;
    if (!outcome.ok) return this.#tellUntracked(outcome.failure.message, outcome.failure.retryable);
    if ("settled" in outcome.value && outcome.value.settled !== undefined) this.#record(outcome.value.settled);
    if (outcome.value.status === "untracked") return this.#tellUntracked(outcome.value.reason);
    if (outcome.value.status === "taken") this.#status = "taken";
  }

  /** Reports what the turn has changed, if anything, even after an interrupt. */
  async end(): Promise<void> {
    if (this.#status !== "taken") return;
    this.#status = "untracked";
    const { pool } = this.#parts;
    const ended = await pool.run("end_snapshot", this.#request());
    if (!ended.ok) return this.#warn(`Cannot determine the turn's file changes: ${ended.failure.message}`);
    const changes = ended.value;
    if (changes === undefined) return undefined;
    this.#record(changes);
    const { files, folders } = changes;
    const diff = await pool.run("diff_changes", { changes: { files, folders }, maxChars: maxDiffChars });
    if (diff.ok) this.#turn.publish({ type: "turn_diff", ...diff.value });
    else this.#warn(`Cannot show the turn's file changes here: ${diff.failure.message}. See: cody diff`);
    return undefined;
  }

  /** The recorded item marks the snapshot in the history; it is never sent to a model. */
  #record({ record, notKept, leftOut, incomplete }: StoredChanges): void {
    if (incomplete !== undefined) this.#warn(`Files created by the turn are not tracked: ${incomplete}`);
    if (notKept !== undefined) this.#warn(`The turn's file changes cannot be undone: ${notKept}`);
    if (leftOut.length > 0) {
      const named = leftOut.slice(0, maxNamed).map(({ path }) => path);
      const rest = leftOut.length > maxNamed ? ` and ${leftOut.length - maxNamed} more` : "";
      this.#warn(
        `Changed, but not shown or saved (too large, unreadable, containing secrets, or with a name that is not UTF-8): ${named.join(", ")}${rest}`,
      );
    }
    if (record === undefined) return;
    const ghost_commit = {
      id: record.id,
      parent: null,
      preexisting_untracked_files: [],
      preexisting_untracked_dirs: [],
    };
    this.#turn.record({ type: "response_item", payload: { type: "ghost_snapshot", ghost_commit } });
  }

  #request(): SnapshotRequest {
    const { turnId, cwd } = this.#turn;
    return { ...this.#parts.places, cwd, turnId, now: this.#turn.now().getTime() };
  }

  #tellUntracked(reason: string, isPassing = false): void {
    if (!isPassing) this.#parts.untracked.add(this.#turn.cwd);
    this.#warn(`File changes in ${this.#turn.cwd} are not tracked and cannot be shown or undone: ${reason}`);
  }

  #warn(message: string): void {
    this.#turn.publish({ type: "warning", message });
  }
}
