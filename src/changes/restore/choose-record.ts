import type { NumberedRecord } from "../workspace/change-folder.js";
import { planRestore, type RestorePlan } from "./plan-restore.js";

export interface ChosenRecord {
  readonly record: NumberedRecord;
  readonly plan: RestorePlan;
}

/**
 * The change that is to be taken back, and what would have to be done: of several the last that has not been taken back
 * already, or, `again`, the last of all.
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
