import { obstacleTexts, folderNotEmptyText } from "../../../changes/restore/obstacle.js";
import type { RestorePlan } from "../../../changes/restore/plan-restore.js";
import { TurnDiffTracker } from "../../../changes/turn-diff-tracker.js";
import type { NumberedRecord } from "../../../changes/workspace/change-folder.js";
import type { LeftOutFile } from "../../../messages/tools/change-record.js";
import { visible } from "../../../base/text/visible.js";
import { localTime } from "../../format.js";
import { statText } from "../../terminal/change-text.js";

/** Further turns are only counted. */
const maxNamed = 10;

/** Names the undone record for a person; `turns` maps turn ids to numbers. */
export function recordText({ kind, turn_id, at }: NumberedRecord, turns: ReadonlyMap<string, number>): string {
  const number = turns.get(turn_id);
  const name = number === undefined ? "a turn" : `turn ${number}`;
  return `${kind === "undo" ? `the undo of ${name}` : name} (${localTime(Date.parse(at))})`;
}

/** Lists undone turns, because a diff does not show them or shows outdated changes. */
export function undoneLines(records: readonly NumberedRecord[], turns: ReadonlyMap<string, number>): string[] {
  if (records.length === 0) return [];
  const named = records.slice(-maxNamed).map((record) => recordText(record, turns));
  const rest = records.length > maxNamed ? [`${records.length - maxNamed} earlier`] : [];
  return [`Reverted: ${[...rest, ...named].join(", ")}.`];
}

/** The changes that restoring would make, or has made. */
export function previewLines(steps: RestorePlan["steps"]): string[] {
  if (steps.length === 0) return [];
  const tracker = new TurnDiffTracker();
  for (const { path, current, target } of steps) tracker.record({ path, before: current, after: target });
  return statText(tracker.files, tracker.getSummary()).map((line) => `  ${line}`);
}

export function obstacleLines(steps: RestorePlan["steps"]): string[] {
  return steps.map(
    ({ path, obstacle }) => `  ✗ ${visible(path)}: ${obstacle === undefined ? "" : obstacleTexts[obstacle]}`,
  );
}

/** A hint for resolving the obstacles: first the necessary steps, and nothing that would not be enough. */
export function obstacleHint({ root, steps }: RestorePlan, overwrite: string): string {
  const obstacles = new Set(steps.map(({ obstacle }) => obstacle));
  if (obstacles.has("no_root")) return `To undo this, restore this folder first: ${visible(root)}`;
  if (obstacles.has("not_kept")) return "This can no longer be undone. Look for the old files in git or in a backup.";
  if (!obstacles.has("blocked")) return `To also restore files that changed since: ${overwrite}`;
  const rest = obstacles.has("changed") ? `. To also restore files that changed since: ${overwrite}` : ".";
  return `Move the files or folders in the way elsewhere, then try again${rest}`;
}

/** Folders that cannot be restored, because they contain unknown files. */
export function remainingFolderLines({ staying }: RestorePlan): string[] {
  return staying.map((path) => `  ${visible(path)}/: ${folderNotEmptyText}`);
}

const notStoredReasons = {
  too_large: "too large",
  unreadable: "unreadable",
  secret: "contains secrets",
  odd_name: "file name is not UTF-8",
} satisfies Record<LeftOutFile["why"], string>;

/** Changed files whose content was not stored. */
export function notStoredLines(files: readonly LeftOutFile[]): string[] {
  return files.map(
    ({ path, why }) => `  ${visible(path)}: also changed, but its content was not saved (${notStoredReasons[why]})`,
  );
}
