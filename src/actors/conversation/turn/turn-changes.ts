import type { EventMsg } from "../../../messages/event.js";
import type { KeptChanges, SnapshotPlaces, SnapshotRequest } from "../../../changes/workspace/snapshot.js";
import type { CpuPool } from "../../../workers/open-cpu-pool.js";
import type { NewLine } from "./recording.js";

/** How long the diff of an event may be. */
const maxDiffChars = 512 * 1024;
/** More than these are not named. */
const maxNamed = 5;

/** Where the changes of turns are kept, and who finds them out. */
export interface ChangeParts {
  readonly places: SnapshotPlaces;
  readonly pool: CpuPool;
  /** Folders that are too large, or cannot be read: they are not tried again, and a person has been told. */
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
 * What one turn makes of the files in its folder. The folder is looked at before the first call that may change
 * something and once more when the turn is over, in a thread; whatever goes wrong with that, the turn goes on.
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
    if ("settled" in outcome.value && outcome.value.settled !== undefined) this.#keep(outcome.value.settled);
    if (outcome.value.status === "untracked") return this.#tellUntracked(outcome.value.reason);
    if (outcome.value.status === "taken") this.#status = "taken";
  }

  /** Says what the turn has changed, if anything; an interrupt does not keep it from that. */
  async end(): Promise<void> {
    if (this.#status !== "taken") return;
    this.#status = "untracked";
    const { pool } = this.#parts;
    const ended = await pool.run("end_snapshot", this.#request());
    if (!ended.ok) return this.#warn(`What the turn changed is not known: ${ended.failure.message}`);
    const changes = ended.value;
    if (changes === undefined) return undefined;
    this.#keep(changes);
    const { files, folders } = changes;
    const diff = await pool.run("diff_changes", { changes: { files, folders }, maxChars: maxDiffChars });
    if (diff.ok) this.#turn.publish({ type: "turn_diff", ...diff.value });
    else this.#warn(`What the turn changed cannot be shown here: ${diff.failure.message}; see cody diff`);
    return undefined;
  }

  /** The item makes a history say where the files were as they were; no model gets it. */
  #keep({ record, notKept, leftOut, incomplete }: KeptChanges): void {
    if (incomplete !== undefined) this.#warn(`Files the turn has made are not tracked: ${incomplete}`);
    if (notKept !== undefined) this.#warn(`What the turn changed cannot be taken back: ${notKept}`);
    if (leftOut.length > 0) {
      const named = leftOut.slice(0, maxNamed).map(({ path }) => path);
      const rest = leftOut.length > maxNamed ? ` and ${leftOut.length - maxNamed} more` : "";
      this.#warn(
        `Changed, but too large, not readable, holding secrets or not named in UTF-8, so neither shown nor kept: ${named.join(", ")}${rest}`,
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
    this.#warn(`Changes in ${this.#turn.cwd} are not tracked, and cannot be shown or taken back: ${reason}`);
  }

  #warn(message: string): void {
    this.#turn.publish({ type: "warning", message });
  }
}
