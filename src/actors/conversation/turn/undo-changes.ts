import type { UndoOutcome } from "../../../changes/restore/undo-turn.js";
import { obstacleTexts, folderNotEmptyText } from "../../../changes/restore/obstacle.js";
import { visible } from "../../../base/text/visible.js";
import type { ConversationContext } from "./turn-world.js";

/** The result of an undo for the user, as in its last event. */
export interface UndoReport {
  readonly success: boolean;
  readonly message: string;
}

/** Maximum number of files listed; of more, only the count is shown. */
const maxNamed = 20;

/** Reverts the file changes of the last turn that made any; the history is unchanged. */
export async function undoChanges(
  { parts, recording, publish }: ConversationContext,
  submissionId: string,
): Promise<UndoReport> {
  publish({ type: "undo_started", message: "Reverting the last turn that changed files" }, submissionId);
  const report = await runUndo(parts);
  recording.line({ type: "event_msg", payload: { type: "undo_completed", ...report } }, submissionId);
  return report;
}

async function runUndo(parts: ConversationContext["parts"]): Promise<UndoReport> {
  const { changes } = parts;
  if (changes === undefined) return { success: false, message: "This conversation does not save file changes" };
  const outcome = await changes.pool.run("undo_turn", { places: changes.places, now: parts.now().getTime() });
  return outcome.ok ? undoReport(outcome.value) : { success: false, message: outcome.failure.message };
}

function undoReport(outcome: UndoOutcome): UndoReport {
  if (outcome.status === "nothing") return { success: false, message: "No changes to undo" };
  if (outcome.status === "conflict") {
    const lines = outcome.obstacles.map(({ path, obstacle }) => `  ${visible(path)}: ${obstacleTexts[obstacle]}`);
    return { success: false, message: listLines("Nothing was changed; these files block the undo:", lines) };
  }
  const { root, restored, failed, staying } = outcome;
  const head = `Reverted the last turn that changed files, in ${root}:`;
  const failures = failed.map(({ path, reason }) => `  ${visible(path)} was not restored: ${reason}`);
  const folders = staying.map((path) => `  ${visible(path)}/ ${folderNotEmptyText}`);
  const lines = [...failures, ...folders, ...restored.map((path) => `  ${visible(path)}`)];
  if (lines.length === 0)
    return { success: true, message: `Nothing to change: all files in ${root} already have their earlier content` };
  return { success: failed.length === 0, message: listLines(head, lines) };
}

function listLines(head: string, lines: readonly string[]): string {
  const rest = lines.length > maxNamed ? [`  and ${lines.length - maxNamed} more`] : [];
  return [head, ...lines.slice(0, maxNamed), ...rest].join("\n");
}
