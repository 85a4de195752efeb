import { open, rename, rm, symlink, unlink } from "node:fs/promises";
import { errorMessage } from "../../base/error-message.js";
import type { KeptFile, ChangeRecord, KeptVersion } from "../../messages/tools/change-record.js";
import { FileProblem } from "../../tools/files/file-problem.js";
import { type OpenFolder, openFolder } from "../../tools/files/open-folder.js";
import { newTemporaryName } from "../../tools/files/temporary-name.js";
import { ChangeFolder, type NumberedRecord } from "../workspace/change-folder.js";
import type { ContentStore } from "../workspace/content-store.js";
import { endSnapshot, type SnapshotPlaces } from "../workspace/snapshot.js";
import { fileAt } from "../workspace/walk.js";
import type { Obstacle } from "./obstacle.js";
import { type PermittedVersion, type RestorePlan, type RestoreStep, chooseRecord } from "./plan-restore.js";
import { makeFolders, permitFolders, removeFolders } from "./folder-state.js";

export interface FailedStep {
  readonly path: string;
  readonly reason: string;
}

/**
 * Restores files and folders to their state before a change. Deletions come first, because the name of a file may
 * have been the name of a folder. The current contents are stored before anything is touched, as a change that can be
 * undone.
 */
export async function restore(
  { root, steps, folders }: RestorePlan,
  undone: NumberedRecord,
  changes: ChangeFolder,
  now: Date,
): Promise<FailedStep[]> {
  const contents = changes.contents();
  const files = steps.map((step): KeptFile => ({
    path: step.path,
    before: storeVersion(contents, step.current),
    after: storeVersion(contents, step.target),
  }));
  contents.flush();
  const { turn_id, number } = undone;
  const at = now.toISOString();
  const record: ChangeRecord = {
    version: 1,
    kind: "undo",
    turn_id,
    of: number,
    root,
    at,
    files,
    folders: folders.map(({ path, current, target }) => ({ path, before: current, after: target })),
    left_out: [],
  };
  changes.add(record);
  const deleted = await applySteps(
    root,
    steps.filter(({ target }) => target === undefined),
  );
  await removeFolders(root, folders);
  const created = await makeFolders(root, folders);
  const replaced = await applySteps(
    root,
    steps.filter(({ target }) => target !== undefined),
  );
  await permitFolders(root, created);
  return [...deleted, ...replaced];
}

async function applySteps(root: string, steps: readonly RestoreStep[]): Promise<FailedStep[]> {
  const failed: FailedStep[] = [];
  for (const step of steps) {
    try {
      await applyStep(root, step);
    } catch (error) {
      failed.push({ path: step.path, reason: errorMessage(error) });
    }
  }
  return failed;
}

function storeVersion(contents: ContentStore, version: PermittedVersion | undefined): KeptVersion | null {
  if (version === undefined) return null;
  const { mode, permissions, bytes } = version;
  const permitted = permissions === undefined ? {} : { permissions };
  return { mode, ...permitted, sha256: contents.put(bytes), bytes: bytes.length };
}

/** Opens the path folder by folder, so that none of them can be swapped for a link that leads elsewhere. */
async function applyStep(root: string, step: RestoreStep): Promise<void> {
  const names = step.path.split("/");
  const name = names.pop() ?? "";
  await using folder = await openFolder(root, names);
  if (fileAt(folder.at("."), name)?.stamp !== step.stamp)
    throw new FileProblem("it was changed by another program at the same time");
  if (step.target === undefined) await unlink(folder.at(name));
  else await put(folder, name, step.target);
  await folder.verify();
}

/** Replaces the file atomically: readers see the old content or the new one. */
async function put(folder: OpenFolder, name: string, target: PermittedVersion): Promise<void> {
  const path = folder.at(name);
  const temporary = folder.at(`${newTemporaryName()}.tmp`);
  try {
    if (target.mode === "120000") await symlink(Buffer.from(target.bytes), temporary);
    else await writeNew(temporary, target);
    await folder.verify();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Creates the file for its owner only, so that nobody else can read it before it has its final permissions. */
async function writeNew(path: string, { permissions = 0o600, bytes }: PermittedVersion): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(bytes);
  await file.chmod(permissions);
  await file.sync();
}

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
  const snapshot = await changes.open();
  if (snapshot === undefined) return;
  await endSnapshot({ ...places, cwd: snapshot.root, turnId: snapshot.turn_id, now: now.getTime() });
}
