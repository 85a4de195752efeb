import { ChangeFolder } from "../workspace/change-folder.js";
import { endSnapshot, type SnapshotPlaces } from "../workspace/snapshot.js";
import { chooseRecord } from "./choose-record.js";
import type { Obstacle } from "./obstacle.js";
import { type FailedStep, restore } from "./restore.js";

/** Result of undoing the last turn that changed files. */
export type UndoOutcome =
  | { readonly status: "nothing" }
  /** Nothing was undone, because of these obstacles. */
  | {
      readonly status: "conflict";
      readonly root: string;
      readonly obstacles: readonly { readonly path: string; readonly obstacle: Obstacle }[];
    }
  | {
      readonly status: "done";
      readonly root: string;
      readonly restored: readonly string[];
      readonly failed: readonly FailedStep[];
      /** Folders that the turn created and that are not empty. */
      readonly staying: readonly string[];
    };

/** Restores the files to their state before the last turn that changed some and is not undone yet. */
export async function undoLastTurn(places: SnapshotPlaces, now: Date): Promise<UndoOutcome> {
  const changes = new ChangeFolder(places.folder);
  await endUnfinished(places, changes, now);
  const chosen = chooseRecord(await changes.records(), changes.folder, ({ kind }) => kind === "turn");
  if (chosen === undefined) return { status: "nothing" };
  const { record, plan } = chosen;
  const { root, steps, staying } = plan;
  const obstacles = steps.flatMap(({ path, obstacle }) => (obstacle === undefined ? [] : [{ path, obstacle }]));
  if (obstacles.length > 0) return { status: "conflict", root, obstacles };
  const failed = steps.length === 0 ? [] : await restore(plan, record, changes, now);
  const restored = steps.map(({ path }) => path).filter((path) => !failed.some((step) => step.path === path));
  return { status: "done", root, restored, failed, staying };
}

/** Closes the snapshot of a turn whose process died, so that the turn can be undone like any other. */
export async function endUnfinished(places: SnapshotPlaces, changes: ChangeFolder, now: Date): Promise<void> {
  const open = await changes.open();
  if (open === undefined) return;
  await endSnapshot({ ...places, cwd: open.root, turnId: open.turn_id, now: now.getTime() });
}
