import { chooseRecord, type RestorePlan } from "../../../changes/restore/plan-restore.js";
import { type FailedStep, restore, endUnfinished } from "../../../changes/restore/restore.js";
import { ChangeFolder, type NumberedRecord } from "../../../changes/workspace/change-folder.js";
import type { ConversationPlaces } from "../../../config/paths.js";
import { visible } from "../../../base/text/visible.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { chooseRollout } from "./chosen-rollout.js";
import { changePlaces, SavedChanges } from "./saved-changes.js";
import {
  notStoredLines,
  obstacleLines,
  previewLines,
  remainingFolderLines,
  obstacleHint,
  recordText,
} from "./undo-text.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { withRolloutLocked } from "../maintenance/locked-rollout.js";

/** Restores the files to their state before a turn; without --yes only shows the preview. */
export async function undoCommand(context: ContextOf<"undo">): Promise<number> {
  const { flags } = context;
  const { turn } = flags;
  if (flags.undo && turn !== undefined) throw usageError("--undo reverts the last undo and cannot be used with --turn");
  const { places, rollout } = await chooseRollout(context);
  const where = changePlaces(places, rollout, context.terminal.env);
  const folder = new ChangeFolder(where.folder);
  const choose = async (): Promise<Chosen> => await chosen(context, places, rollout, turn);
  const isOpen = (await folder.open()) !== undefined;
  if (!flags.yes && !isOpen) return await show(context, await choose());
  // The lock prevents new turns meanwhile.
  return await withRolloutLocked(context, rollout, async () => {
    if (isOpen) await endUnfinished(where, folder, new Date());
    if (flags.yes && !isOpen) return await undo(context, await choose());
    await context.tell(
      "The process of the last turn died: all changes since the turn started are treated as its changes.",
    );
    return await show(context, await choose());
  });
}

interface Chosen {
  readonly rollout: RolloutName;
  readonly changes: SavedChanges;
  readonly record: NumberedRecord;
  readonly plan: RestorePlan;
  /** A description of the undone record for a person. */
  readonly what: string;
}

/** Chooses the record to undo and plans the restore. If several match, the last one that was not undone is chosen. */
async function chosen(
  context: ContextOf<"undo">,
  places: ConversationPlaces,
  rollout: RolloutName,
  turn: number | undefined,
): Promise<Chosen> {
  const changes = await SavedChanges.read(places, rollout, context.terminal.env);
  const { records, turns } = changes;
  const turnId = turn === undefined ? undefined : changes.idOf(turn);
  const kind = context.flags.undo ? "undo" : "turn";
  const isSelected = (record: NumberedRecord): boolean =>
    record.kind === kind && (turnId === undefined || record.turn_id === turnId);
  const found = chooseRecord(records, changes.folder.folder, isSelected, turnId !== undefined);
  if (found !== undefined) return { ...found, rollout, changes, what: recordText(found.record, turns) };
  throw new CommandError(context.flags.undo ? "No undo to revert" : "No changes to undo", exitCodes.failed, [
    "To see the recorded changes: cody diff --stat",
  ]);
}

async function show(context: ContextOf<"undo">, choice: Chosen): Promise<number> {
  const { plan, what } = choice;
  const { ready, obstructed } = sorted(plan, context);
  const lines = [
    `Undo of ${what} in ${plan.root} would change:`,
    ...previewLines(ready),
    ...obstacleLines(obstructed),
    ...remainingFolderLines(plan),
    ...notStoredLines(choice.record.left_out),
  ];
  if (plan.steps.length === 0) lines.push("  Nothing to change: all files already have their earlier content.");
  else if (obstructed.length === 0) lines.push(`Nothing was changed. To apply: ${commandFor(context, choice)} --yes`);
  else lines.push(`Nothing was changed; the files above block the undo. ${helpFor(context, choice, obstructed)}`);
  await printResult(context, { text: lines.join("\n"), json: report(choice, "preview", []) });
  return 0;
}

async function undo(context: ContextOf<"undo">, choice: Chosen): Promise<number> {
  const { plan, what, record, changes } = choice;
  const { ready, obstructed } = sorted(plan, context);
  if (obstructed.length > 0) {
    const head = `Nothing was changed. Cannot undo ${what}:`;
    const lines = [head, ...obstacleLines(obstructed), helpFor(context, choice, obstructed)];
    await printResult(context, { text: lines.join("\n"), json: report(choice, "conflict", []) });
    return exitCodes.failed;
  }
  const failed = ready.length === 0 ? [] : await restore({ ...plan, steps: ready }, record, changes.folder, new Date());
  const done = ready.filter(({ path }) => !failed.some((one) => one.path === path));
  const lines = [
    ready.length === 0
      ? `Nothing to change: all files already are as they were before ${what}`
      : `✓ Reverted ${what} in ${plan.root}:`,
    ...previewLines(done),
    ...failed.map(({ path, reason }) => `  ${visible(path)}: ${reason}`),
    ...remainingFolderLines(plan),
    ...notStoredLines(record.left_out),
    ...(done.length > 0 ? [`To revert this undo: cody undo ${choice.rollout.id} --undo --yes`] : []),
  ];
  await printResult(context, { text: lines.join("\n"), json: report(choice, "done", failed) });
  return failed.length > 0 ? exitCodes.failed : 0;
}

/** With --overwrite, later changes are no obstacle: the overwritten content is stored like any other. */
function sorted({ steps }: RestorePlan, { flags }: ContextOf<"undo">) {
  const isReady = ({ obstacle }: RestorePlan["steps"][number]): boolean =>
    obstacle === undefined || (flags.overwrite && obstacle === "changed");
  return { ready: steps.filter(isReady), obstructed: steps.filter((step) => !isReady(step)) };
}

function commandFor({ flags }: ContextOf<"undo">, { rollout }: Chosen): string {
  const turn = flags.turn === undefined ? "" : ` --turn ${flags.turn}`;
  return `cody undo ${rollout.id}${turn}${flags.undo ? " --undo" : ""}`;
}

function helpFor(context: ContextOf<"undo">, choice: Chosen, steps: RestorePlan["steps"]): string {
  return obstacleHint({ ...choice.plan, steps }, `${commandFor(context, choice)} --overwrite --yes`);
}

function report(
  { rollout, record, plan }: Chosen,
  status: "preview" | "conflict" | "done",
  failed: readonly FailedStep[],
): object {
  const files = plan.steps.map(({ path, current, target, obstacle }) => ({
    path,
    action: target === undefined ? "delete" : current === undefined ? "create" : "restore",
    obstacle: obstacle ?? null,
  }));
  return { id: rollout.id, status, turn_id: record.turn_id, root: plan.root, files, failed };
}
