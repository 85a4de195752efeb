import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { snapshotPlaces } from "../../../actors/conversation/store/store.js";
import { ChangeFolder, type NumberedRecord } from "../../../changes/workspace/change-folder.js";
import {
  diffChanges,
  currentChanges,
  type StoredChanges,
  type SnapshotPlaces,
} from "../../../changes/workspace/snapshot.js";
import { TurnDiffTracker } from "../../../changes/turn-diff-tracker.js";
import { gitUser } from "../../../base/git/git-user.js";
import { redactionRules } from "../../../config/secrets/redact.js";
import type { ConversationPlaces } from "../../../config/paths.js";
import type { LeftOutFile } from "../../../messages/tools/change-record.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { readRollout } from "../../../rollouts/file/read.js";
import { TurnEnds } from "../../../rollouts/turns.js";
import { CommandError, exitCodes } from "../../command-error.js";

type Env = Readonly<Record<string, string | undefined>>;

/** The file changes of the turns of a saved conversation. */
export class SavedChanges {
  readonly folder: ChangeFolder;
  readonly records: readonly NumberedRecord[];
  /** The changes so far of a turn that never ended. */
  readonly unfinished: StoredChanges | undefined;
  /** Turn numbers by turn id. */
  readonly turns: ReadonlyMap<string, number>;

  private constructor(
    folder: ChangeFolder,
    records: readonly NumberedRecord[],
    unfinished: StoredChanges | undefined,
    turns: ReadonlyMap<string, number>,
  ) {
    this.folder = folder;
    this.records = records;
    this.unfinished = unfinished;
    this.turns = turns;
  }

  static async read(places: ConversationPlaces, rollout: RolloutName, env: Env): Promise<SavedChanges> {
    const where = changePlaces(places, rollout, env);
    const folder = new ChangeFolder(where.folder);
    const open = await folder.open();
    const unfinished =
      open !== undefined && isRealPath(open.root) ? currentChanges(where, open, Date.now()) : undefined;
    return new SavedChanges(folder, await folder.records(), unfinished, await turnNumbers(rollout));
  }

  /** The changes of one turn, or of all turns and undos in order. */
  diff(turn: number | undefined): TurnDiffTracker {
    const turnId = turn === undefined ? undefined : this.idOf(turn);
    const tracker = new TurnDiffTracker();
    const isSelected = ({ kind, turn_id }: NumberedRecord) =>
      turnId === undefined || (kind === "turn" && turn_id === turnId);
    const folders = [this.folder.folder];
    for (const { files } of this.records.filter(isSelected)) diffChanges({ files, folders }, tracker);
    const open = this.unfinished;
    if (open !== undefined && (turnId === undefined || open.turnId === turnId)) diffChanges(open, tracker);
    return tracker;
  }

  /** Changed files whose content was not stored, so that no diff shows them. */
  leftOut(turn: number | undefined): readonly LeftOutFile[] {
    const turnId = turn === undefined ? undefined : this.idOf(turn);
    const all = [
      ...this.records.map(({ turn_id, left_out }) => ({ turnId: turn_id, leftOut: left_out })),
      ...(this.unfinished === undefined ? [] : [this.unfinished]),
    ];
    const files = all.filter((one) => turnId === undefined || one.turnId === turnId).flatMap(({ leftOut }) => leftOut);
    return [...new Map(files.map((file) => [file.path, file])).values()];
  }

  /** The records of one turn, or of all turns, that were undone and not restored since. */
  reverted(turn: number | undefined): readonly NumberedRecord[] {
    const turnId = turn === undefined ? undefined : this.idOf(turn);
    const isReverted = ({ number }: NumberedRecord): boolean =>
      this.records.some((record) => record.of === number && !isReverted(record));
    const isSelected = ({ kind, turn_id }: NumberedRecord): boolean =>
      kind === "turn" && (turnId === undefined || turn_id === turnId);
    return this.records.filter((record) => isSelected(record) && isReverted(record));
  }

  idOf(turn: number): string {
    const id = [...this.turns].find(([, number]) => number === turn)?.[0];
    if (id !== undefined) return id;
    const last = Math.max(0, ...this.turns.values());
    throw new CommandError(`No turn ${turn}: the last turn is ${last}`, exitCodes.failed);
  }
}

function isRealPath(root: string): boolean {
  try {
    return realpathSync(root) === root;
  } catch {
    return false;
  }
}

/** The snapshot places for read access. No size limit applies: it was enforced when the turn was played. */
export function changePlaces(places: ConversationPlaces, rollout: RolloutName, env: Env): SnapshotPlaces {
  return snapshotPlaces(places, rollout.path, {
    maxBytes: Number.POSITIVE_INFINITY,
    secrets: redactionRules({}, env).secrets,
    gitUser: gitUser({ env, homedir }),
  });
}

/** Numbers the turns of a rollout. The number of a rolled-back turn is reused by the next turn. */
export async function turnNumbers({ id, path }: RolloutName): Promise<Map<string, number>> {
  const numbers = new Map<string, number>();
  const ends = new TurnEnds();
  for await (const { line } of readRollout(path, id)) {
    ends.add(line);
    if (line.type !== "event_msg" || line.payload.type !== "task_started") continue;
    for (const [known, number] of numbers) if (number >= ends.turns) numbers.delete(known);
    numbers.set(line.payload.turn_id, ends.turns);
  }
  return numbers;
}
