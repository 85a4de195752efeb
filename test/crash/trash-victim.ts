import { join } from "node:path";
import { openOwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import { moveToTrash } from "../../src/rollouts/trash/move-to-trash.js";
import { removeForGood } from "../../src/rollouts/trash/finish-interrupted.js";
import { restore } from "../../src/rollouts/trash/restore.js";
import { trashed, nodeTrashFiles } from "../../src/rollouts/trash/trash-files.js";
import { sendReport } from "./report.js";
import { deadlyFiles } from "./trash-deaths.js";

/** The job of a victim in a home; it dies at one of its disk calls, or finishes. */
export interface TrashOrder {
  readonly home: string;
  readonly sockets: string;
  readonly id: string;
  readonly path: string;
  readonly work: "trash" | "restore" | "remove";
  readonly acrossDisks: boolean;
  readonly deathAt: number;
}

void play(JSON.parse(process.argv[2] ?? "") as TrashOrder);

async function play({ home, sockets, id, path, work, acrossDisks, deathAt }: TrashOrder): Promise<void> {
  const { owner } = await openOwnerSocket(sockets);
  const files = deadlyFiles(nodeTrashFiles, { acrossDisks, deathAt });
  const [directory, trash] = [join(home, "conversations"), join(home, "trash")];
  if (work === "trash") {
    const now = new Date("2026-11-16T00:00:00Z");
    await moveToTrash(files, { id, path, directory, trash, now, graceMs: 1, why: "asked", owner });
  } else {
    const [entry] = await trashed(nodeTrashFiles, trash);
    if (entry === undefined) throw new Error("the trash is empty");
    await (work === "restore" ? restore : removeForGood)(files, entry, owner);
  }
  sendReport({ type: "done", line: files.calls() });
  process.kill(process.pid, "SIGKILL");
}
