import { join } from "node:path";
import { planRestore } from "../../src/changes/restore/plan-restore.js";
import { restore } from "../../src/changes/restore/restore.js";
import { ChangeFolder, type NumberedRecord } from "../../src/changes/workspace/change-folder.js";
import { endSnapshot, takeSnapshot } from "../../src/changes/workspace/snapshot.js";
import { temporaryFolder } from "./temporary-folder.js";

/** A folder whose changes are tracked and can be undone. */
export async function openChanges() {
  const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
  const places = { workspaces: join(home, "workspaces"), folder: join(home, "snapshots"), outside: [home] };
  const request = { ...places, cwd, maxBytes: 1e9, secrets: [], turnId: "t1", now: Date.now() };
  const changes = new ChangeFolder(places.folder);
  /** Runs `work` and returns the record of the file changes it made. */
  const during = async (work: () => Promise<unknown>): Promise<NumberedRecord> => {
    await takeSnapshot(request);
    await work();
    await endSnapshot(request);
    const record = (await changes.records()).at(-1);
    if (record === undefined) throw new Error("nothing has changed");
    return record;
  };
  const plan = (record: NumberedRecord) => planRestore(record, places.folder);
  const takeBack = (record: NumberedRecord) => restore(plan(record), record, changes, new Date());
  return { cwd, home, folder: places.folder, changes, during, plan, takeBack, request };
}
