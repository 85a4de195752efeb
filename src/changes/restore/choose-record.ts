import type { NumberedRecord } from "../workspace/change-folder.js";
import { planRestore, type RestorePlan } from "./plan-restore.js";

export interface ChosenRecord {
  readonly record: NumberedRecord;
  readonly plan: RestorePlan;
}

/**
 * Chooses the change to undo and plans the restore: the last matching change that is not undone yet, or with `again`
 * the last matching change of all.
 */
export function chooseRecord(
  records: readonly NumberedRecord[],
  folder: string,
  isMeant: (record: NumberedRecord) => boolean,
  again = false,
): ChosenRecord | undefined {
  for (const record of records.filter(isMeant).toReversed()) {
    const plan = planRestore(record, folder);
    const isUndone = records.some(({ of }) => of === record.number);
    if (!again && isUndone && plan.steps.every(({ obstacle }) => obstacle !== undefined)) continue;
    return { record, plan };
  }
  return undefined;
}
