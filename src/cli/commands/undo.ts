import { planRestore, type Obstacle, type RestorePlan } from "../../changes/restore/plan-restore.js";
import { type FailedStep, restore } from "../../changes/restore/restore.js";
import { TurnDiffTracker } from "../../changes/turn-diff-tracker.js";
import type { NumberedRecord } from "../../changes/workspace/change-folder.js";
import { endSnapshot } from "../../changes/workspace/snapshot.js";
import type { ConversationPlaces } from "../../config/places.js";
import { visible } from "../../messages/visible.js";
import type { RolloutName } from "../../rollouts/layout-files.js";
import { chosenRollout } from "../changes/chosen-rollout.js";
import { placesOfChanges, SavedChanges } from "../changes/saved-changes.js";
import { statText } from "../changes/stat-text.js";
import { CommandError, exitCodes, usageError } from "../command-error.js";
import { type CommandContext, printResult } from "../context.js";
import { localTime } from "../local-time.js";
import { withRolloutLocked } from "../locked-rollout.js";
import { numberFlag } from "../whole-number.js";

const obstacles = {
  changed: "has changed since",
  not_kept: "what it was is not there any more",
  blocked: "something else stands in its place",
} satisfies Record<Obstacle, string>;

/** Makes the files what they were before a turn; without --yes it is only said what would be done. */
export async function undoCommand(context: CommandContext): Promise<number> {
  const { flags } = context;
  const turn = numberFlag("--turn", flags.turn);
  if (flags.undo && turn !== undefined) throw usageError("--undo takes back the last undo, and goes with no --turn");
  const { places, rollout } = await chosenRollout(context);
  if (!flags.yes) return await show(context, await chosen(context, places, rollout, turn));
  // Nobody plays a turn in it meanwhile.
  return await withRolloutLocked(context, rollout, async () => {
    await endUnfinished(places, rollout, context);
    return await undo(context, await chosen(context, places, rollout, turn));
  });
}

interface Chosen {
  readonly rollout: RolloutName;
  readonly changes: SavedChanges;
  readonly record: NumberedRecord;
  readonly plan: RestorePlan;
  /** What is taken back, for a person. */
  readonly what: string;
}

/** The change that is meant, and what would have to be done: of several the last that has not been taken back. */
async function chosen(
  context: CommandContext,
  places: ConversationPlaces,
  rollout: RolloutName,
  turn: number | undefined,
): Promise<Chosen> {
  const changes = await SavedChanges.read(places, rollout, context.terminal.env);
  const { records, turns, unfinished } = changes;
  if (unfinished !== undefined && !context.flags.yes) {
    await context.tell("The last turn has not ended, or its process died: with --yes it is ended first.");
  }
  const turnId = turn === undefined ? undefined : changes.idOf(turn);
  const kind = context.flags.undo ? "undo" : "turn";
  const meant = records.filter((record) => record.kind === kind && (turnId === undefined || record.turn_id === turnId));
  const folder = changes.folder.folder;
  for (const record of meant.toReversed()) {
    const plan = planRestore(record, folder);
    const isUndone = records.some(({ of }) => of === record.number);
    if (turnId === undefined && isUndone && plan.steps.every(({ obstacle }) => obstacle !== undefined)) continue;
    const number = turns.get(record.turn_id);
    const name = number === undefined ? "a turn" : `turn ${number}`;
    const what = `${kind === "undo" ? `the undo of ${name}` : name} (${localTime(Date.parse(record.at))})`;
    return { rollout, changes, record, plan, what };
  }
  throw new CommandError(
    context.flags.undo ? "There is no undo to take back" : "There are no changes to take back",
    exitCodes.failed,
    ["To see what is known: cody diff --stat"],
  );
}

async function show(context: CommandContext, choice: Chosen): Promise<number> {
  const { rollout, plan, what } = choice;
  const { ready, obstructed } = sorted(plan, context);
  const flags = [
    context.flags.turn === undefined ? "" : ` --turn ${context.flags.turn}`,
    context.flags.undo ? " --undo" : "",
  ];
  const command = `cody undo ${rollout.id}${flags.join("")}`;
  const lines = [`To take back ${what} in ${plan.root}:`, ...previewLines(ready), ...obstacleLines(obstructed)];
  if (plan.steps.length === 0) lines.push("  Everything is as it was already.");
  else if (obstructed.length === 0) lines.push(`Nothing was changed. To do it: ${command} --yes`);
  else lines.push(`Nothing was changed, and nothing will be while files are in the way. ${overwriteHint(command)}`);
  await printResult(context, { text: lines.join("\n"), json: report(choice, "preview", []) });
  return 0;
}

async function undo(context: CommandContext, choice: Chosen): Promise<number> {
  const { plan, what, record, changes } = choice;
  const { ready, obstructed } = sorted(plan, context);
  if (obstructed.length > 0) {
    const text = [`${what} was not taken back, and nothing was changed:`, ...obstacleLines(obstructed)].join("\n");
    await printResult(context, { text, json: report(choice, "conflict", []) });
    return exitCodes.failed;
  }
  const failed = ready.length === 0 ? [] : await restore({ ...plan, steps: ready }, record, changes.folder, new Date());
  const done = ready.filter(({ path }) => !failed.some((one) => one.path === path));
  const lines = [
    ready.length === 0 ? `Everything is as it was before ${what}` : `✓ Took back ${what} in ${plan.root}:`,
    ...previewLines(done),
    ...failed.map(({ path, reason }) => `  ${visible(path)}: ${reason}`),
    ...(done.length > 0 ? [`To take this back: cody undo ${choice.rollout.id} --undo --yes`] : []),
  ];
  await printResult(context, { text: lines.join("\n"), json: report(choice, "done", failed) });
  return failed.length > 0 ? exitCodes.failed : 0;
}

/** With --overwrite what somebody has changed since is no obstacle: it is kept like all that is overwritten. */
function sorted({ steps }: RestorePlan, { flags }: CommandContext) {
  const isReady = ({ obstacle }: RestorePlan["steps"][number]): boolean =>
    obstacle === undefined || (flags.overwrite && obstacle === "changed");
  return { ready: steps.filter(isReady), obstructed: steps.filter((step) => !isReady(step)) };
}

function previewLines(steps: RestorePlan["steps"]): string[] {
  if (steps.length === 0) return [];
  const tracker = new TurnDiffTracker();
  for (const { path, current, target } of steps) tracker.record({ path, before: current, after: target });
  return statText(tracker.files, tracker.getSummary()).map((line) => `  ${line}`);
}

function obstacleLines(steps: RestorePlan["steps"]): string[] {
  return steps.map(
    ({ path, obstacle }) => `  ✗ ${visible(path)}: ${obstacle === undefined ? "" : obstacles[obstacle]}`,
  );
}

function overwriteHint(command: string): string {
  return `To restore also what has changed since: ${command} --overwrite --yes`;
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

/** A turn whose process died is ended, so that it can be taken back like any other. */
async function endUnfinished(
  places: ConversationPlaces,
  rollout: RolloutName,
  { terminal: { env } }: CommandContext,
): Promise<void> {
  const where = placesOfChanges(places, rollout, env);
  const open = await (await SavedChanges.read(places, rollout, env)).folder.open();
  if (open === undefined) return;
  await endSnapshot({ ...where, cwd: open.root, turnId: open.turn_id, now: Date.now() });
}
