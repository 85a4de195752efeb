import { checkLine } from "../../../rollouts/file/check-line.js";
import { replacesHistory } from "../../../rollouts/file/history.js";
import type { LineObject } from "../../../rollouts/file/line-object.js";
import { apply, emptyState } from "../state/state.js";
import { Transcript } from "../state/transcript.js";

/** What the lines of a conversation make of it; they come in order and are checked here. */
export class CheckedFold {
  readonly state = emptyState();
  readonly transcript = new Transcript();
  /** Lines that were not understood, since the history was last replaced as a whole. */
  skipped = 0;
  hasReplaced = false;

  /** Whether the line is what it looks like; one that is not is passed over. */
  add(value: LineObject): boolean {
    const { line, isUnderstood } = checkLine(value);
    if (!isUnderstood) this.skipped += 1;
    if (line === undefined) return false;
    if (replacesHistory(line)) [this.skipped, this.hasReplaced] = [0, true];
    apply(this.state, line);
    this.transcript.add(line);
    return true;
  }

  /** Adds a line to the transcript only: the history no longer has it. */
  addShown(value: LineObject): void {
    const { line } = checkLine(value);
    if (line !== undefined) this.transcript.add(line);
  }
}
