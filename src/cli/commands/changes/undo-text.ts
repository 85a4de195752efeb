import { obstacleWords, stayingWords } from "../../../changes/restore/obstacle.js";
import type { RestorePlan } from "../../../changes/restore/plan-restore.js";
import { TurnDiffTracker } from "../../../changes/turn-diff-tracker.js";
import type { NumberedRecord } from "../../../changes/workspace/change-folder.js";
import type { LeftOutFile } from "../../../messages/change-record.js";
import { visible } from "../../../base/text/visible.js";
import { localTime } from "../../format/local-time.js";
import { statText } from "../../terminal/stat-text.js";

/** More turns are only counted. */
const maxNamed = 10;

/** What is taken back, for a person; `turns` are the numbers of turns by their ids. */
export function whatText({ kind, turn_id, at }: NumberedRecord, turns: ReadonlyMap<string, number>): string {
  const number = turns.get(turn_id);
  const name = number === undefined ? "a turn" : `turn ${number}`;
  return `${kind === "undo" ? `the undo of ${name}` : name} (${localTime(Date.parse(at))})`;
}

/** What a diff does not show, or shows though it is not so any more. */
export function takenBackLines(records: readonly NumberedRecord[], turns: ReadonlyMap<string, number>): string[] {
  if (records.length === 0) return [];
  const named = records.slice(-maxNamed).map((record) => whatText(record, turns));
  const rest = records.length > maxNamed ? [`${records.length - maxNamed} before`] : [];
  return [`Taken back: ${[...rest, ...named].join(", ")}.`];
}

/** What would become of files, or became of them. */
export function previewLines(steps: RestorePlan["steps"]): string[] {
  if (steps.length === 0) return [];
  const tracker = new TurnDiffTracker();
  for (const { path, current, target } of steps) tracker.record({ path, before: current, after: target });
  return statText(tracker.files, tracker.getSummary()).map((line) => `  ${line}`);
}

export function obstacleLines(steps: RestorePlan["steps"]): string[] {
  return steps.map(
    ({ path, obstacle }) => `  ✗ ${visible(path)}: ${obstacle === undefined ? "" : obstacleWords[obstacle]}`,
  );
}

/** What helps against obstacles: first what must be done, and nothing that would not be enough. */
export function wayOut({ root, steps }: RestorePlan, overwrite: string): string {
  const met = new Set(steps.map(({ obstacle }) => obstacle));
  if (met.has("no_root")) return `It can be taken back once this folder is there again: ${visible(root)}`;
  if (met.has("not_kept")) return "It cannot be taken back any more; git or a backup may have what the files were.";
  if (!met.has("blocked")) return `To restore also what has changed since: ${overwrite}`;
  const rest = met.has("changed") ? `, and to restore also what has changed since: ${overwrite}` : ".";
  return `To go on, move what stands in their place somewhere else, then try again${rest}`;
}

/** Folders that are not as they were, because something is in them that is not known here. */
export function stayingLines({ staying }: RestorePlan): string[] {
  return staying.map((path) => `  ${visible(path)}/: ${stayingWords}`);
}

const leftOutWords = {
  too_large: "too large",
  unreadable: "not readable",
  secret: "holds secrets",
  odd_name: "its name is no UTF-8",
} satisfies Record<LeftOutFile["why"], string>;

/** What a turn changed and nobody kept. */
export function leftOutLines(files: readonly LeftOutFile[]): string[] {
  return files.map(({ path, why }) => `  ${visible(path)}: changed too, but not kept (${leftOutWords[why]})`);
}
